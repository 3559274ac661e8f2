"""Claims of state-space rerankers: what is measured, over which units, and the rule, written before the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprlab.results.claims import Claim, Find
from reprlab.results.contrasts import sum_over_seeds
from reprlab.results.frame import Choice, Frame
from reprlab.results.twins import Twin
from reprlab.retrieval.collections import RANDOM
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    FEWEST_SEEDS,
    Estimate,
    Rule,
    mean_over_crossed,
    mean_over_units,
)

_MRR: dict[str, Choice] = {"part": "in_domain", "metric": "mrr_at_10"}
_BEYOND: dict[str, Choice] = {"part": "out_of_domain", "metric": "ndcg_at_10"}
_DOCUMENTS: dict[str, Choice] = {"part": "document", "metric": "mrr_at_100"}
_MAMBA, _ENCODERS = ("mamba1", "mamba2"), ("bert", "roberta", "electra")
_TRANSFORMERS = (*_ENCODERS, "bart", "opt", "llama")
_LISTS: dict[str, Choice] = {"part": "lists", "metric": "mrr_at_10"}
_FIRST: dict[str, Choice] = {"method": "listwise"}
_LARGE: dict[str, Any] = {
    "only_at": ("paper",),
    "because": "specification, section 6: parity and differences between families are not visible with two layers",
}
_KEYS = ["part", "dataset", "split"]


def above(*, chance: bool) -> Find:
    """nDCG@10 of trained models less that of the random order, or of the better first stage, on the same queries.

    Crossed over models and data sets; of one model on one data set over seeds, or queries within few of them.
    """

    def find(frame: Frame) -> Estimate | str:
        scores = frame.select(metric="ndcg_at_10", part=("in_domain", "out_of_domain", "document"))
        trained = scores[scores["truncation"] != "none"]
        beside = scores[(scores["truncation"] == "none") & ((scores["model"] == RANDOM) == chance)]
        level = beside.groupby(_KEYS)["value"].max()
        if trained.empty or level.empty:
            return f"not run at scale {frame.scale}"
        if len(trained[["model", "dataset"]].drop_duplicates()) == 1:
            best = beside[beside["value"] == beside.groupby(_KEYS)["value"].transform("max")].assign(seed=0)
            best = best[best["dataset"].isin(trained["dataset"])]
            return sum_over_seeds((trained, best), (1, -1), "query", apart="split") or frame.reason()
        gaps = trained["value"].to_numpy() - level.loc[list(map(tuple, trained[_KEYS].to_numpy()))].to_numpy()
        return mean_over_crossed(gaps, {"model": trained["model"], "data set": trained["dataset"]})

    return find


def between(where: dict[str, Choice], column: str, first: Sequence[str], second: Sequence[str]) -> Find:
    """Mean score of some families (or truncations) less that of others, of one size, on the same queries.

    Crossed over sizes and data sets. Of one size on fewer data sets than four, which judge as little as so many seeds,
    over seeds, or queries within few of them.
    """

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(**where)
        rows = rows[(rows["truncation"] != "none") & (rows["size"] != "")]
        if column == "family":
            rows = rows[rows["truncation"] == "firstp"]
        keys = ["size", "dataset", "split", "seed"]
        keys += ["model"] if column == "truncation" else []
        one, two = (rows[rows[column].isin(names)].groupby(keys)["value"].mean() for names in (first, second))
        gaps = (one - two).dropna().reset_index()
        if gaps.empty:
            return frame.reason(**where) or f"not run at scale {frame.scale}"
        units = {"size": gaps["size"], "data set": gaps["dataset"] + " " + gaps["split"]}
        if units["size"].nunique() == 1 and units["data set"].nunique() < FEWEST_SEEDS:
            own = rows[rows["size"] == gaps["size"][0]].assign(place=rows["dataset"] + " " + rows["split"])
            if column == "truncation":
                own = own[own["model"].isin(gaps["model"])]
            sides = [own[own[column].isin(names)] for names in (first, second)]
            return sum_over_seeds(sides, (1, -1), "query", apart="place") or frame.reason(**where)
        return mean_over_crossed(gaps["value"], units)

    return find


def beside(order: str) -> Find:
    """MRR@10 in-domain of the models that are read in an order, less that of the same models as the paper reads them,
    on the same queries.

    Crossed over models and splits; of fewer models than four, which judge as little as so many seeds, over seeds, or
    queries within few of them.
    """

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(part=("in_domain", "orders"), truncation="firstp", metric="mrr_at_10", order=(order, ""))
        rows = rows.assign(place=rows["dataset"] + " " + rows["split"])
        other = rows[rows["order"] == order]
        own = rows[(rows["order"] == "") & rows["model"].isin(other["model"])]
        if other.empty or own.empty:
            return frame.reason(part="orders") or f"not run at scale {frame.scale}"
        if other["model"].nunique() < FEWEST_SEEDS:
            return sum_over_seeds((other, own), (1, -1), "query", apart="place") or frame.reason(part="orders")
        keys = ["model", "place", "seed"]
        one, two = (side.groupby(keys)["value"].mean() for side in (other, own))
        gaps = (one - two).dropna().reset_index()
        return mean_over_crossed(gaps["value"], {"model": gaps["model"], "data set": gaps["place"]})

    return find


def in_lists(**other: Choice) -> Find:
    """MRR@10 in-domain of FIRST less that of other rows of the same queries, a model's or a first stage's.

    Over seeds, or queries within few of them, of the mean over models.
    """

    def find(frame: Frame) -> Estimate | str:
        sides = []
        for where in (_FIRST, other):
            rows = frame.select(**_LISTS, **where)
            # A first stage has no seed.
            sides.append(rows.assign(place=rows["dataset"] + " " + rows["split"], seed=rows["seed"].fillna(0)))
        return sum_over_seeds(sides, (1, -1), "query", apart="place") or frame.reason(**_LISTS)

    return find


def faster(metric: str, first: Sequence[str], second: Sequence[str]) -> Find:
    """Percent by which some families are faster than others of their size, by batch or by length.

    Attention is the fused one: the paper compares with flash attention.
    """

    def find(frame: Frame) -> Estimate | str:
        rows, unit = (
            frame.select(metric=metric, attention=("sdpa", "none")),
            "batch" if metric == "training_speed" else "length",
        )
        one, two = (
            rows[rows["family"].isin(names)].groupby(["size", unit])["value"].mean() for names in (first, second)
        )
        percent: Any = (100 * (one / two - 1)).dropna()
        if percent.empty:
            return f"not run at scale {frame.scale}"
        return mean_over_units(percent, unit, groups=percent.index.get_level_values(unit))

    return find


ORDERS = {"M11": "reversed", "M12": "twice", "M13": "reversed_twice"}
"""Orders of query and document, by the claim on each."""
_READ = {
    "reversed": "Query and document the other way round rerank better than in the paper's order (ours)",
    "twice": "Query and document read twice rerank better than once (ours)",
    "reversed_twice": "Query and document the other way round, twice, rerank better than in the paper's order (ours)",
}
_POINTS = "difference of MRR@10, points"
CLAIMS = (
    Claim("M1", "A trained reranker orders better than chance", "nDCG@10 less that of the random order, points",
          ABOVE_ZERO, above(chance=True)),
    Claim("M2", "Reranking improves on the first stage", "nDCG@10 less that of the better first stage, points",
          ABOVE_ZERO, above(chance=False), **_LARGE),
    Claim("M3",
          "Mamba reranks as well as transformers of its size (two points; printed, over three sizes: -0.4, -2.2 to"
          " 1.5)", _POINTS, Rule(low=-2.0), between(_MRR, "family", _MAMBA, _TRANSFORMERS), **_LARGE),
    Claim("M4", "Encoders rerank better than the decoder OPT of their size (printed of two sizes, +3.9 and +2.3)",
          _POINTS, ABOVE_ZERO, between(_MRR, "family", _ENCODERS, ("opt",)), **_LARGE),
    Claim("M5", "Mamba-2 reranks better than Mamba-1 in-domain (printed, over four sizes: -0.2, -1.2 to 0.9)",
          _POINTS, ABOVE_ZERO, between(_MRR, "family", ("mamba2",), ("mamba1",)), **_LARGE),
    Claim("M6", "Mamba-2 reranks better than Mamba-1 on other collections (printed: 0.7, -0.3 to 1.7)",
          "difference of nDCG@10, points", ABOVE_ZERO,
          between(_BEYOND, "family", ("mamba2",), ("mamba1",)), **_LARGE),
    Claim("M7", "A longer input improves document reranking (LongP against FirstP)", "difference of MRR@100, points",
          ABOVE_ZERO, between(_DOCUMENTS, "truncation", ("longp",), ("firstp",)), **_LARGE),
    Claim("M8", "Mamba-2 trains faster than Mamba-1", "tokens a second, percent more", ABOVE_ZERO,
          faster("training_speed", ("mamba2",), ("mamba1",))),
    Claim("M9", "Mamba trains slower than transformers", "tokens a second, percent more", BELOW_ZERO,
          faster("training_speed", _MAMBA, _TRANSFORMERS)),
    Claim("M10", "Mamba scores slower than OPT", "queries a second, percent more", BELOW_ZERO,
          faster("scoring_speed", _MAMBA, ("opt",))),
    *(
        Claim(name, _READ[order], "MRR@10, less that in the paper's order, points", ABOVE_ZERO, beside(order),
              {"part": ("in_domain", "orders"), "metric": "mrr_at_10", "order": (order, "")})
        for name, order in ORDERS.items()
    ),
    Claim("M14", "FIRST, which ranks lists by one token, reranks better than pairs scored by the same model (ours)",
          "MRR@10, less that of the reranker of pairs, points", ABOVE_ZERO, in_lists(method="pointwise"),
          {**_LISTS, "method": ("listwise", "pointwise")}),
    Claim("M15", "FIRST improves on BM25 (ours)", "MRR@10, less that of BM25, points", ABOVE_ZERO,
          in_lists(model="bm25"), {**_LISTS, "method": ("listwise", "")}),
    Claim("M16", "FIRST reranks better than its model ranks lists before training (ours)",
          "MRR@10, less that of the untrained model, points", ABOVE_ZERO, in_lists(method="untrained"),
          {**_LISTS, "method": ("listwise", "untrained")}),
)  # fmt: skip
TWINS = (
    Twin(("M1",), "the random order", learned={"truncation": ("firstp", "longp"), "model": None},
         rows={"truncation": "none", "model": RANDOM}),
    Twin(("M2",), why_not="the first stage, which learnt nothing of the data, is the other side"),
    Twin(("M3", "M4", "M5", "M6", "M7"), why_not="two trainings: orders at random would stand on both sides"),
    Twin(tuple(ORDERS), why_not="two trainings from one start: orders at random would stand on both sides"),
    Twin(("M14",), why_not="two trainings from one start: orders at random would stand on both sides"),
    Twin(("M15",), "the same model before training", learned={"part": "lists", **_FIRST},
         rows={"method": "untrained"}),
    Twin(("M16",), why_not="the model before training is the other side"),
    Twin(("M8", "M9", "M10"), why_not="speed, whatever is learnt"),
)  # fmt: skip
