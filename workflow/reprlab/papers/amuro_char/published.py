"""How the printed tables are keyed."""

from reprlab.papers.amuro_char.names import CHECKPOINTS, PREDICTION_METHODS
from reprlab.reporting.published import PublishedTable

PUBLISHED = {
    "table3_prediction_method": PublishedTable(("dataset", "model"), PREDICTION_METHODS),
    "table4_gpu_hours": PublishedTable(("activity",), ("xsum", "socialiqa", "mnli", "paws")),
    "table6_perf_diff": PublishedTable(("ckpt",), ("learned_in_pretrain", "learned_in_finetune")),
    "statements": PublishedTable(("quantity", "family"), ("value",)),
}
# Without a counterpart in our results: released values behind Table 6 and section 4.3, known counts, other models.
KNOWN = {
    "table2_models": PublishedTable(("model",), ("size", "tokens")),
    "released_performance": PublishedTable(("family", "train", "eval"), CHECKPOINTS),
    "models": PublishedTable(("model",), ("parameters", "embedding")),
    "checkpoint_list": PublishedTable(("index",), ("step",)),
    "label_counts": PublishedTable(("eval", "label"), ("count",)),
}
