"""Names of models and rows, as the paper and its results show them."""

UNTRAINED, PUBLISHED, TFIDF = "none", "published", "tfidf"
# The paper's own way, and the neighbours that it is held against with as many vectors.
PLAIN = "spt_uni_eosp"
FORMS = {"residual": "residual prompt", "decomposed": "decomposed prompt"}
# Names of the paper's rows: our encoder, and its size where the name says it.
ROWS = {
    "SimCSE": (PUBLISHED, 0),
    "w/o fine-tuning": ("none", 0),
    "w/ fine-tuning": ("full", 0),
    "LoRA-uni": ("lora_uni", 16),
    "LoRA-uni r=1": ("lora_uni", 1),
    "LoRA-bi": ("lora_bi", 16),
    "SPT": ("spt_uni_eosp", 0),
    "SPT-uni": ("spt_uni_eosp", 0),
    "SPT-bi": ("spt_mntp_eosp", 0),
    "SPT v2": ("spt_v2", 0),
    "uni append EOSP": ("spt_uni_eosp", 0),
    "uni append Mean": ("spt_uni_mean", 0),
    "bi append EOSP": ("spt_bi_eosp", 0),
    "bi append Mean": ("spt_bi_mean", 0),
    "bi prepend SOSP": ("spt_bi_sosp", 0),
    "bi prepend Mean": ("spt_bi_before_mean", 0),
    "MNTP bi append EOSP": ("spt_mntp_eosp", 0),
    "MNTP bi append Mean": ("spt_mntp_mean", 0),
    "MNTP bi prepend SOSP": ("spt_mntp_sosp", 0),
    "MNTP bi prepend Mean": ("spt_mntp_before_mean", 0),
}

BACKBONES = {"OPT-125M": "opt_125m", "LLaMA2-7B": "llama_2_7b", "LLaMA3-8B": "llama_3_8b", "BERT-base": "simcse"}

LABELS = {name: label for label, name in BACKBONES.items()} | {
    f"{encoder} {size}": f"{label.removesuffix(' r=1')}, {'rank' if encoder.startswith('lora') else 'k ='} {size}"
    for label, (encoder, _) in ROWS.items()
    for size in (1, 2, 4, 8, 16, 32, 64, 128)
}
LABELS |= {f"{form} {size}": f"{words}, k = {size}" for form, words in FORMS.items() for size in (1, 2, 4, 8, 16)}
LABELS |= {encoder: label for label, (encoder, size) in ROWS.items() if size != 1} | FORMS
LABELS |= {UNTRAINED: "raw last state", "full": "all weights", PUBLISHED: "as published"}
"""Words for figures: an encoder alone, and with its vectors or its rank."""
