"""What the report says about the paper: title, and what its tables and figures show."""

TITLE = "Vocabulary-level Memory Efficiency for Language Model Fine-tuning"
AUTHORS = "Miles Williams, Nikolaos Aletras"
URL = "https://aclanthology.org/2025.repl4nlp-1.14/"
QUESTION = (
    "How much of the embedding matrix does a fine-tuning data set use, and what is saved by training with those rows "
    "alone (PEMA)?"
)
TABLES = {
    "table1_unseen_tokens": "Tokens of a vocabulary that do not occur in a corpus (Table 1).",
    "table2_reduction": "Reduction of embedding and model parameters by task (Table 2).",
    "table3_deberta_sizes": "Parameters saved by sizes of one family, in millions (Table 3).",
    "table4_xnli": "Reduction by sets of languages (Table 4).",
    "table5_models": "Vocabulary and parameters of each model (Table 5).",
    "table6_deberta": "Sizes of one family (Table 6).",
    "table9_runtime": "Seconds of PEMA and of fine-tuning, and peak memory with and without it (Table 9).",
    "table10_glue": "GLUE with and without PEMA (Table 10).",
    "fig2_vocab_trend": "Unique tokens by tokens (Figure 2).",
}
FIGURES = {
    "fig2_vocab_trend": "Unique tokens by tokens of each data set (Figure 2).",
    "fig_memory": "Peak memory of fine-tuning with and without PEMA.",
}
