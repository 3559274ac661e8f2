"""What the report says about the paper: title, and what its tables and figures show."""

TITLE = "A Comparative Study of Learning Paradigms in Large Language Models via Intrinsic Dimension"
AUTHORS = "Saahith Janapati, Yangfeng Ji"
URL = "https://aclanthology.org/2025.repl4nlp-1.5/"
QUESTION = "Do hidden states of in-context learning fill more dimensions than those of fine-tuning?"
TABLES = {
    "accuracy": "Accuracy by data set and paradigm, mean over models (Table 1).",
    "id_layers": "Intrinsic dimension of every layer (Figures 1b, 2a, 3b, 29 to 36).",
    "auc": "Normalised area under these curves, by its three definitions (Figures 1c, 2c, 3c).",
    "auc_heatmap": "Mean difference in AUC between paradigms (Figure 4).",
    "sft_dynamics": "Accuracy and AUC by step of fine-tuning (Figures 2, 13 to 28).",
    "icl_dynamics": "Accuracy and AUC by number of demonstrations (Figures 3, 7 to 12).",
    "icl_unique": "The same with demonstrations that stand in one prompt only (Figures 37 to 39).",
    "twonn_vs_mle": "Two estimators on every layer of every condition (Figure 46).",
    "precision": "What bfloat16 does to the estimates.",
    "seeds": "Spread over seeds of demonstrations and adapters.",
}
FIGURES = {
    "id_layers": "Intrinsic dimension by layer and paradigm (Figures 1b, 29 to 36).",
    "auc_heatmap": "Mean difference in AUC between paradigms (Figure 4).",
    "auc_by_condition": "AUC by paradigm (Figure 5).",
    "auc_by_model": "AUC by model, a panel for each paradigm (Figures 6, 40 to 45).",
    "sft_dynamics": "Fine-tuning step by step (Figures 2, 13 to 28).",
    "icl_dynamics": "In-context learning by number of demonstrations (Figures 3, 7 to 12).",
    "icl_unique": "Demonstrations never shared (Figures 37 to 39).",
    "twonn_vs_mle": "TwoNN against Levina-Bickel (Figure 46).",
}
