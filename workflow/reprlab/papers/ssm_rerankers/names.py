"""Names of models and rows, as the paper and its results show them."""

LABELS = {
    "bm25": "BM25", "bge_large_en_v1_5": "BGE-large", "bert_base": "BERT-base", "roberta_base": "RoBERTa-base",
    "electra_base": "ELECTRA-base", "bart_base": "BART-base", "opt_125m": "OPT-125M", "mamba1_130m": "Mamba-1-130M",
    "mamba2_130m": "Mamba-2-130M", "bert_large": "BERT-large", "roberta_large": "RoBERTa-large",
    "electra_large": "ELECTRA-large", "bart_large": "BART-large", "opt_350m": "OPT-350M",
    "mamba1_370m": "Mamba-1-370M", "mamba2_370m": "Mamba-2-370M", "mamba1_790m": "Mamba-1-790M",
    "mamba2_780m": "Mamba-2-780M", "opt_1_3b": "OPT-1.3B", "mamba1_1_4b": "Mamba-1-1.4B", "mamba2_1_3b": "Mamba-2-1.3B",
    "llama_3_2_1b": "Llama-3.2-1B",
}  # fmt: skip
