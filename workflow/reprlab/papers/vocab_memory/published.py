"""How the printed tables are keyed."""

from reprlab.papers.vocab_memory.names import GLUE, XNLI
from reprlab.reporting.published import PublishedTable

PUBLISHED = {
    "table1_unseen_tokens": PublishedTable(("token",), ("id",)),
    "table2_reduction": PublishedTable(("model", "kind"), (*GLUE, "mean")),
    "table3_deberta_sizes": PublishedTable(("model",), (*GLUE, "mean")),
    "table4_xnli": PublishedTable(("model", "kind"), XNLI),
    "table5_models": PublishedTable(("model",), ("vocabulary", "embedding", "total", "share")),
    "table6_deberta": PublishedTable(("model",), ("layers", "heads", "width", "embedding", "total", "share")),
    "table7_splits": PublishedTable(("task",), ("train", "validation", "test", "total")),
    "table9_runtime": PublishedTable(("task",), ("pema_s", "pema_sd", "finetune_s", "finetune_sd", "percent")),
    "table10_glue": PublishedTable(("model", "pema"), (*GLUE, "mean", "sd")),
    "statements": PublishedTable(("quantity",), ("value",)),
}
CHECKED_ONLY = {"gpt2_ids": PublishedTable(("token",), ("id",))}
"""Not printed in the paper: ids of the tokens of Table 1 in GPT-2's own vocabulary file."""
