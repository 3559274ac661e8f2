"""What state-space rerankers declare about their results: factors, metrics, tables, figures, claims, printed tables."""

from reprlab.papers.ssm_rerankers.claims import CLAIMS
from reprlab.papers.ssm_rerankers.tables import beir, draw_operators, first_stage, out_of_domain, reranked, speed
from reprlab.results.comparison import Printed
from reprlab.results.figures import Axis, Curves
from reprlab.results.records import Figure, PaperResults, Table
from reprlab.results.schema import Factor, Metric
from reprlab.results.tables import Listing, Pivot

SPEED = "speed"
BEIR = (
    "arguana", "climate_fever", "dbpedia", "fever", "fiqa", "hotpotqa", "nfcorpus", "nq", "quora", "scidocs", "scifact",
    "trec_covid", "touche",
)  # fmt: skip
_QUALITY = ("mrr_at_10", "mrr_at_100", "ndcg_at_10")
_RECALL = tuple(f"recall_at_{depth}" for depth in (20, 50, 100, 1000))

FACTORS = {
    "model": Factor(about="reranker; bm25 or a bi-encoder: the first stage itself; random order: of what it found"),
    "family": Factor(about="family of the reranker", identifies=False),
    "size": Factor(about="models of one size are compared with each other", identifies=False),
    "part": Factor(
        about="in_domain: splits of the collection that is trained on; out_of_domain: others; document; speed",
        values=("in_domain", "out_of_domain", "document", SPEED),
    ),
    "dataset": Factor(about="collection"),
    "truncation": Factor(
        about="firstp: the beginning of a document; longp: a longer one; maxp: its best passage; none: first stage",
        values=("none", "firstp", "longp", "maxp"),
    ),
    "length": Factor(about="tokens of a sequence that is timed", kind="whole"),
    "batch": Factor(about="sequences of a batch that is timed", kind="whole"),
    "operator": Factor(about="operator of PyTorch, by the profiler"),
    "kernels": Factor(about="scan of a state-space model: compiled or chunked (ours)", identifies=False),
    "device": Factor(about="where it ran", identifies=False),
    "seed": Factor(about="seed of the reranker", kind="whole"),
}
METRICS = {
    "mrr_at_10": Metric(about="mean reciprocal rank, 0 beyond rank 10", unit="percent"),
    "mrr_at_100": Metric(about="mean reciprocal rank, 0 beyond rank 100", unit="percent"),
    "ndcg_at_10": Metric(about="nDCG at 10 with linear gains, as trec_eval", unit="percent"),
    **{name: Metric(about=f"recall at {name.rpartition('_')[2]}", unit="percent") for name in _RECALL},
    "training_speed": Metric(about="tokens a second, forward and backward pass", unit="number"),
    "scoring_speed": Metric(about="queries a second", unit="number"),
    "operator_share": Metric(about="share of an operator in the time of a forward pass", unit="percent"),
}


def _pivot(rows: str) -> Pivot:
    return Pivot(rows=rows, across="metric", about="scale n steps tokens", over="seed", beside="low high learned data")


TABLES = [
    Table(
        "table2",
        "Passages in-domain: rerankers, the first stages, and the random order (Table 2).",
        _pivot("model dataset split"),
        {"part": "in_domain", "metric": _QUALITY},
    ),
    Table(
        "table3",
        "Passages of collections that were not trained on: nDCG@10 (Tables 3 and 11).",
        out_of_domain,
        {"part": "out_of_domain", "metric": "ndcg_at_10"},
    ),
    Table(
        "table4",
        "Documents: their beginning, a longer one, and their best passage (Table 4).",
        _pivot("model truncation dataset split"),
        {"part": "document", "metric": _QUALITY},
    ),
    Table(
        "table5",
        "Queries a second by length (Table 5); which scan ran stands in kernels.",
        Listing("model length batch queries_per_second=value n kernels device data scale"),
        {"part": SPEED, "metric": "scoring_speed"},
    ),
    Table(
        "table7",
        "First stages of passages (Table 7).",
        _pivot("model dataset split"),
        {"part": "in_domain", "truncation": "none", "metric": (*_QUALITY, *_RECALL)},
    ),
    Table(
        "table8",
        "First stage of documents (Table 8).",
        _pivot("model dataset split"),
        {"part": "document", "truncation": "none", "metric": (*_QUALITY, *_RECALL)},
    ),
    Table(
        "throughput",
        "Tokens a second in training by batch (Figure 1).",
        Listing("model batch length tokens_per_second=value n kernels device data scale"),
        {"part": SPEED, "metric": "training_speed"},
    ),
    Table(
        "operators",
        "Operators that take most of the time of a forward pass (Figure 2).",
        Listing("model operator share=value length batch kernels device data scale"),
        {"part": SPEED, "metric": "operator_share"},
    ),
]
FIGURES = [
    Figure(
        "figure1",
        "Tokens a second in training by batch (Figure 1).",
        "throughput",
        Curves(Axis("batch", "Sequences"), [Axis("tokens_per_second", "Tokens a second")], line="model", panel="scale"),
    ),
    Figure("figure2", "Operators by share of time (Figure 2).", "operators", draw_operators),
    Figure(
        "inference",
        "Queries a second by length (Table 5).",
        "table5",
        Curves(Axis("length", "Tokens"), [Axis("queries_per_second", "Queries a second")], line="model", panel="scale"),
    ),
]
_STAGES = ("dev_mrr", "dev_recall", "dl19_ndcg", "dl19_recall", "dl20_ndcg", "dl20_recall")
_THREE = ("dev", "dl19", "dl20")
PRINTED = {
    "table2": Printed(("model",), _THREE, reranked("table2", "mrr_at_10")),
    "table3": Printed(("model",), (*BEIR, "average"), beir),
    "table4": Printed(("model", "truncation"), _THREE, reranked("table4", "mrr_at_100")),
    "table5": Printed(("model", "length"), ("queries_per_second",), speed),
    "table6": Printed(("property",), ("attention", "ssm", "ssd"), "orders of growth, quoted from Dao and Gu (2024)"),
    "table7": Printed(("retriever",), _STAGES, first_stage("table7", "mrr_at_10")),
    "table8": Printed(("retriever",), _STAGES, first_stage("table8", "mrr_at_100")),
    "table11": Printed(("model",), (*BEIR, "average"), beir),
}
LABELS = {
    "bm25": "BM25", "bge_large_en_v1_5": "BGE-large", "bert_base": "BERT-base", "roberta_base": "RoBERTa-base",
    "electra_base": "ELECTRA-base", "bart_base": "BART-base", "opt_125m": "OPT-125M", "mamba1_130m": "Mamba-1-130M",
    "mamba2_130m": "Mamba-2-130M", "bert_large": "BERT-large", "roberta_large": "RoBERTa-large",
    "electra_large": "ELECTRA-large", "bart_large": "BART-large", "opt_350m": "OPT-350M",
    "mamba1_370m": "Mamba-1-370M", "mamba2_370m": "Mamba-2-370M", "mamba1_790m": "Mamba-1-790M",
    "mamba2_780m": "Mamba-2-780M", "opt_1_3b": "OPT-1.3B", "mamba1_1_4b": "Mamba-1-1.4B", "mamba2_1_3b": "Mamba-2-1.3B",
    "llama_3_2_1b": "Llama-3.2-1B",
}  # fmt: skip
RESULTS = PaperResults(
    factors=FACTORS,
    metrics=METRICS,
    tables=TABLES,
    claims=CLAIMS,
    figures=FIGURES,
    printed=PRINTED,
    unjudged={"nano": "a few queries and steps test the workflow, not the claim"},
    labels=LABELS,
)
