"""Names of models and rows, as the paper and its results show them."""

LABELS = {
    "llama_3_8b": "LLaMA-3-8B", "mistral_7b": "Mistral-7B", "qwen2_7b": "Qwen2-7B", "phi3_4b": "Phi3-4B",
    "bge": "BGE", "gte": "GTE", "e5": "E5",
}  # fmt: skip
