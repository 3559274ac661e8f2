"""How the printed tables of DEPTH are keyed."""

from reprlab.reporting.published import PublishedTable

GLUE = ("cola", "sst2", "mnli_m", "mnli_mm")
SENTENCE_POSITION = ("sp_arxiv", "sp_wiki", "sp_rocstory")
DISCOURSE_COHERENCE = ("dc_chat", "dc_wiki")
DISCOEVAL = (*SENTENCE_POSITION, *DISCOURSE_COHERENCE)

_BY_CHECKPOINT = ("init", "model", "step", "split")
PUBLISHED = {
    "table1": PublishedTable(("model",), ("sp", "dc")),
    "table2_scale": PublishedTable(("model",), ("tokens", "steps", "batch", "params", "lr")),
    "glue": PublishedTable(_BY_CHECKPOINT, GLUE),
    "discoeval": PublishedTable(_BY_CHECKPOINT, DISCOEVAL),
    "ni": PublishedTable(_BY_CHECKPOINT, ("rougeL",)),
    "error_types_sp": PublishedTable(
        ("init", "model", "task"), ("correct", "transition", "pronoun", "reasonable", "punctuation")
    ),
    "error_types_dc": PublishedTable(("init", "model", "task"), ("correct", "poorly_formatted", "reasonable")),
    "statements": PublishedTable(("init", "model", "step", "quantity"), ("value",)),
}
