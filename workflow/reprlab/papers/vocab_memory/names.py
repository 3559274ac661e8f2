"""The paper's names for models and columns."""

MODELS = {
    "distilbert_base_cased": "DistilBERT",
    "distilbert_base_uncased": "DistilBERT",
    "distilroberta_base": "DistilRoBERTa",
    "distilmbert_base_cased": "DistilmBERT",
    "bert_base_cased": "BERT",
    "bert_base_uncased": "BERT",
    "bert_large_uncased": "BERT-large",
    "roberta_base": "RoBERTa",
    "deberta_v3_base": "DeBERTaV3",
    "mbert_base_cased": "mBERT",
    "xlm_roberta_base": "XLM-RoBERTa",
    "xlm_v_base": "XLM-V",
    "minilm_l6": "MiniLM-L6",
    "smollm2_135m_instruct": "SmolLM2-135M",
    "gpt2": "GPT-2",
}
SIZES = {
    "deberta_v3_xsmall": "XSmall",
    "deberta_v3_small": "Small",
    "deberta_v3_base": "Base",
    "deberta_v3_large": "Large",
}
GLUE = ("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb", "wnli")
XNLI = ("en", "en_de", "en_zh", "all")


def label_of(model: str) -> str:
    """A model's name in the paper's tables; the registry's name where the paper does not have it."""
    return MODELS.get(model, model)


def size_label_of(model: str) -> str:
    """A model's name in the paper's tables of one family."""
    return SIZES.get(model, label_of(model))
