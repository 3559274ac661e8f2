"""How the printed tables are keyed."""

from reprlab.reporting.published import PublishedTable

CONDITIONS = ("icl_0", "icl_1", "icl_2", "icl_5", "icl_10", "sft_1k")
PUBLISHED = {
    "accuracy": PublishedTable(("dataset",), CONDITIONS),
    "statements": PublishedTable(("quantity", "model", "dataset"), ("value",)),
}
# Not printed: known answers and the label counts of the released data.
KNOWN = {
    "label_counts": PublishedTable(("dataset", "split", "label"), ("count",)),
    "models": PublishedTable(("model",), ("layers", "width", "adapter_parameters", "parameters")),
}
