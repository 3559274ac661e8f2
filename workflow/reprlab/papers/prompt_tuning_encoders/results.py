"""What soft prompts as encoders declare: factors, metrics, tables, figures, claims and printed tables."""

from functools import partial

from reprlab.papers.prompt_tuning_encoders.claims import CLAIMS
from reprlab.papers.prompt_tuning_encoders.tables import (
    CATEGORIES,
    attention_pairs,
    by_size,
    category_means,
    choice_of_size,
    courses,
    per_data_set,
    printed_row,
    sizes,
)
from reprlab.results.comparison import Printed
from reprlab.results.figures import Axis, Bars, Curves
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric

UNTRAINED = "none"
FACTORS = {
    "backbone": Factor(about="decoder"),
    "model": Factor(about="its entry in the registry of models", identifies=False),
    "weights": Factor(about="pretrained, or random: a control", values=("pretrained", "random"), identifies=False),
    "encoder": Factor(about="way to make an encoder of it; none: the raw decoder, full: all weights fine-tuned"),
    "size": Factor(about="number of trained vectors, or rank of adapters; 0: neither", kind="whole"),
    "method": Factor(about="what is trained", values=("none", "full", "lora", "prompt", "prefix"), identifies=False),
    "attention": Factor(about="uni: causal; bi: bidirectional", values=("uni", "bi"), identifies=False),
    "mntp": Factor(about="whether the decoder was post-trained by MNTP", values=("yes", "no"), identifies=False),
    "position": Factor(about="where a prompt stands", values=("append", "prepend"), identifies=False),
    "pooling": Factor(about="vector of a text", values=("first", "last", "mean"), identifies=False),
    "category": Factor(about="category of the task", values=CATEGORIES, identifies=False),
    "dataset": Factor(about="task"),
    "learning_rate": Factor(about="the rate that the held-out pairs chose", kind="number", identifies=False),
    "step": Factor(about="update of the training", kind="whole"),
    "seed": Factor(about="seed of the training", kind="whole"),
}
METRICS = {
    "ndcg_at_10": Metric(about="retrieval: nDCG at 10", unit="percent"),
    "spearman": Metric(about="STS: rank correlation of cosine and gold", unit="percent"),
    "v_measure": Metric(about="clustering: V-measure", unit="percent"),
    "accuracy": Metric(about="classification: accuracy of few-shot logistic regression", unit="percent"),
    "loss": Metric(about="mean contrastive loss of the updates up to this one", unit="nats"),
    "held_out": Metric(about="mean rank correlation on the held-out pairs, 0 to 1", unit="number"),
    "trained": Metric(about="trained parameters", unit="count"),
    "total": Metric(about="parameters of the decoder and those trained beside it", unit="count"),
    "share": Metric(about="trained of total", unit="percent"),
}
_SCORED = ("ndcg_at_10", "spearman", "v_measure", "accuracy")
_WITH_SHARE = {"metric": (*_SCORED, "share")}
TABLES = [
    Table(
        "table1",
        "Encoders by category, with the share of trained parameters (Tables 1 and 3).",
        category_means,
        _WITH_SHARE,
    ),
    Table(
        "table2",
        "Soft prompts: mean STS by attention, position and pooling (Table 2).",
        by_size,
        {"metric": (*_SCORED, "share")},
    ),
    Table(
        "table4",
        "Trained parameters, counted without weights (Table 4).",
        sizes,
        {"metric": ("trained", "total", "share")},
    ),
    Table("table5", "STS by data set (Table 5).", per_data_set, {"category": "sts", "metric": "spearman"}),
    Table("figure1", "Adapters with causal and with bidirectional attention (Figure 1).", attention_pairs, _WITH_SHARE),
    Table("figure3", "STS by number of vectors (Figure 3).", by_size, _WITH_SHARE),
    Table(
        "choice",
        "The number of vectors that the held-out pairs choose, and the best one on the reported sets (section 5.2).",
        choice_of_size,
        {"metric": (*_SCORED, "share", "held_out")},
    ),
    Table(
        "courses",
        "Loss and held-out correlation by step, at the chosen learning rate.",
        courses,
        {"metric": ("loss", "held_out")},
    ),
]
FIGURES = [
    Figure(
        "figure1",
        "Adapters with causal and with bidirectional attention (Figure 1).",
        "figure1",
        Bars("category", [Axis("value", "Score")], "Score", line="encoder", panel="backbone"),
    ),
    Figure(
        "figure3",
        "STS by number of vectors (Figure 3).",
        "figure3",
        Curves(
            Axis("size", "Vectors"),
            [Axis("sts", "Spearman, percent")],
            line="pooling",
            panel="backbone",
            where={"attention": "uni"},
        ),
    ),
    Figure(
        "courses",
        "Training loss by step.",
        "courses",
        Curves(
            Axis("step", "Step"),
            [Axis("value", "Loss, nats")],
            line="row",
            panel="backbone",
            where={"metric": "loss"},
        ),
    ),
]
# Names of the paper's rows: our encoder, and its size where the name says it.
ROWS = {
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
BACKBONES = {"OPT-125M": "opt_125m", "LLaMA2-7B": "llama_2_7b", "LLaMA3-8B": "llama_3_8b", "BERT-base": ""}
_KEYS = ("model", "row", "k")
_STS = ("sts12", "sts13", "sts14", "sts15", "sts16", "stsb", "sickr")
_SCORES = ("params_percent", *CATEGORIES, "average")
PRINTED = {
    "table1": Printed(_KEYS, _SCORES, partial(printed_row, table="table1")),
    "table2": Printed(_KEYS, ("sts",), partial(printed_row, table="table2")),
    "table3": Printed(_KEYS, _SCORES, partial(printed_row, table="table1")),
    "table4": Printed(_KEYS, ("trained", "total", "share"), partial(printed_row, table="table4")),
    "table5": Printed(_KEYS, (*_STS, "average"), partial(printed_row, table="table5")),
}
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    claims=CLAIMS,
    figures=FIGURES,
    printed=PRINTED,
    unjudged={"nano": "a few steps and queries test the workflow, not the claim"},
    labels={name: label for label, name in BACKBONES.items() if name},
)
