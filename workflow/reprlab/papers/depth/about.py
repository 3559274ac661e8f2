"""What the report says about DEPTH: title, and what its tables and figures show."""

TITLE = "DEPTH: Discourse Education through Pre-Training Hierarchically"
AUTHORS = "Zachary Elisha Bamberger, Ofek Glick, Chaim Baskin, Yonatan Belinkov"
URL = "https://arxiv.org/abs/2405.07788"
QUESTION = (
    "Does an encoder-decoder that also puts shuffled sentences back in order learn faster, and more about discourse, "
    "than T5's span corruption alone?"
)
TABLES = {
    "table1": "Mean of the SP tasks and of the DC tasks at the last checkpoint (Table 1).",
    "table2_scale": "Scale of pre-training (Table 2).",
    "glue": "GLUE by checkpoint (Tables 5 and 6).",
    "discoeval": "DiscoEval by checkpoint (Tables 7 and 8).",
    "ni": "Natural Instructions, ROUGE-L, by checkpoint (Tables 9 and 10).",
    "loss_fs": "Validation losses from scratch (Figure 2).",
    "loss_cpt": "Validation losses in continued pre-training (Figure 3).",
    "loss_decomposition": "DEPTH's loss in its parts (Figures 8 and 9).",
    "packing_lr": "T5's training loss with and without packing, by learning rate (Figure 7).",
    "sentence_weight": "Weight of the sentence loss (Figure 10).",
    "padding_in_loss": "Ablation of a defect of the released code: padding counted in the DEPTH loss.",
    "int8_bug": "Ablation of a defect of the released code: T5 inputs scrambled beyond 127 tokens.",
    "error_sample": "Predictions for annotation by hand; the category is left empty (Tables 3 and 4).",
}
FIGURES = {
    "fig_glue": "GLUE by pre-training step (Figure 4).",
    "fig_discoeval": "DiscoEval by pre-training step (Figure 5).",
    "fig_ni": "Natural Instructions, ROUGE-L, by pre-training step (Figure 6).",
    "loss_fs": "Validation loss from scratch (Figure 2).",
    "loss_cpt": "Validation loss in continued pre-training (Figure 3).",
    "loss_decomposition": "DEPTH's loss in its two parts, and what chance order gives (Figures 8 and 9).",
    "packing_lr": "T5's training loss with and without packing, by learning rate (Figure 7).",
    "sentence_weight": "Weight of the sentence loss (Figure 10).",
    "padding_in_loss": "Padding counted in the DEPTH loss, and not.",
    "int8_bug": "T5 with its inputs scrambled beyond 127 tokens, and not.",
}
