"""Claims of universal features: what is measured, and the rule that was written before the number was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from reprlab.results.claims import Claim
from reprlab.results.contrasts import Ratio, sum_over_seeds
from reprlab.results.frame import Choice, Frame, Option, Rows
from reprlab.results.twins import Twin
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    contrast,
    least_of,
    mean_over_units,
    over_seeds,
    proportion,
    ratio_difference,
)

_LOSS = ("loss_sum", "count")
_GROUPS = ("persisting", "disappeared")
_MODELS: dict[str, Choice] = {"part": "models"}
# Where features are counted for the claims: all positions, every partner counts, the paper's threshold.
_COUNTED: dict[str, Choice] = {
    "part": "flow", "positions": "all", "match": "many", "threshold": Option("threshold"),
    "metric": ("share_parent", "parent_alive"),
}  # fmt: skip


def _loss(first: str, second: str, corpus: str) -> Ratio:
    """Nats a token of a model on a corpus less those of another on the same batches."""
    about: dict[str, Choice] = {"part": "models", "corpus": corpus}
    return Ratio(_LOSS, {**about, "model": first}, {**about, "model": second})


def _over_seeds(by_seed: Iterable[Estimate | str | None]) -> Estimate | str:
    found = list(by_seed)
    known = [one for one in found if isinstance(one, Estimate)]
    return over_seeds(known) if known else next((one for one in found if one), "")


def _of_each_seed(frame: Frame) -> list[Frame]:
    return [frame.narrowed({"seed": int(seed)}) for seed in frame.select()["seed"].dropna().unique()]


def between(frame: Frame) -> Estimate | str:
    """Nats by which the merged model lies between the children: the least of both sides on both corpora."""

    def least(one: Frame) -> Estimate | str:
        pairs = [
            (corpus, *pair)
            for corpus, other in (("lua", "stories"), ("stories", "lua"))
            for pair in (("merged", corpus), (other, "merged"))
        ]
        gaps = [_loss(first, second, corpus)(one) for corpus, first, second in pairs]
        return _least(gaps)

    return _over_seeds(map(least, _of_each_seed(frame)))


def best_point(frame: Frame, way: str) -> tuple[float, dict[str, Rows]] | None:
    """The point of a way to merge that has the least mean loss over the children's corpora on every other batch of one
    seed, and by corpus its sums on the batches between, which chose nothing; None where the way was not run."""
    wide = frame.select(part="models", model=way, corpus=("lua", "stories"), metric=_LOSS)
    if wide.empty:
        return None
    sums = wide.pivot_table("value", ["corpus", "batch", "t"], "metric", aggfunc="sum").reset_index()
    choosing = sums[sums["batch"].astype(int) % 2 == 0].groupby(["t", "corpus"])[list(_LOSS)].sum()
    means = (choosing["loss_sum"] / choosing["count"]).groupby("t").mean()
    best = float(means.idxmin())
    scored = sums[(sums["t"] == best) & (sums["batch"].astype(int) % 2 == 1)]
    if scored.empty:
        return None
    return best, {str(corpus): rows.set_index("batch")[list(_LOSS)] for corpus, rows in scored.groupby("corpus")}


def merges_better(way: str) -> Callable[[Frame], Estimate | str]:
    """Nats a token of the best point of another way to merge less those of the best of slerp, mean over the corpora of
    the children, on batches that chose neither."""

    def of_seed(one: Frame) -> Estimate | str:
        rival, own = best_point(one, way), best_point(one, "sweep")
        if rival is None or own is None:
            return one.reason(part="models", model=way)
        gaps = []
        for corpus, theirs in own[1].items():
            sides = rival[1][corpus].align(theirs, join="inner", axis=0)
            one_side, other = ((side["loss_sum"].to_numpy(), side["count"].to_numpy()) for side in sides)
            gaps.append(ratio_difference(one_side, other, "batch", paired=True))
        return contrast(gaps, [1 / len(gaps)] * len(gaps), "batch")

    return lambda frame: _over_seeds(map(of_seed, _of_each_seed(frame)))


def monotone(frame: Frame) -> Estimate | str:
    """Points of accuracy by which the sweep moves the right way from each t to the next, the least step."""

    def least(one: Frame) -> Estimate | str:
        steps = sorted(one.select()["t"].dropna().unique())
        about: dict[str, Choice] = {**_MODELS, "model": "sweep"}
        return _least(
            [
                Ratio(("correct", "count"), about | at | {"t": first}, about | at | {"t": second}, times=100)(one)
                for earlier, later in pairwise(steps)
                for at, first, second in (({"corpus": "lua"}, earlier, later), ({"corpus": "stories"}, later, earlier))
            ]
        )

    return _over_seeds(map(least, _of_each_seed(frame)))


def _least(gaps: Sequence[Estimate | str]) -> Estimate | str:
    known = [one for one in gaps if isinstance(one, Estimate)]
    return least_of(known) if known and len(known) == len(gaps) else next((one for one in gaps if one not in known), "")


def _shares(frame: Frame, **where: Choice) -> Rows:
    """Shares of persisting features in percent, with their interval over the features that the parent has."""
    keys = ["dictionary", "seed", "control", "parent", "child"]
    wide = frame.select(**where).pivot_table("value", keys, "metric").dropna()
    if not {"share_parent", "parent_alive"} <= set(wide):
        return wide.reset_index().iloc[:0]
    alive = wide["parent_alive"].round().astype(int)
    found = [
        proportion(round(share * n / 100), n, "feature").times(100)
        for share, n in zip(wide["share_parent"], alive, strict=True)
    ]
    bounds = {name: [getattr(one, name) for one in found] for name in ("low", "high")}
    return wide.reset_index().assign(value=wide["share_parent"].to_numpy(), n=alive.to_numpy(), **bounds)


def share_less(
    control: str, partner: Callable[[str, str], tuple[str, str]], *, twin: bool = True
) -> Callable[[Frame], Estimate | str]:
    """Share of persisting features from base to child, in points, less that of a control, mean over children; less the
    same of the twin. Over seeds, or over features within few of them."""
    dictionaries = ("trained", "random") if twin else ("trained",)

    def find(frame: Frame) -> Estimate | str:
        import pandas

        rows = _shares(frame)
        sides: dict[tuple[str, str], list[Rows]] = {}
        for child in ("lua", "stories"):
            cells = [("", "base", child), (control, *partner("base", child))]
            known = {
                (of, cell[0]): rows[(rows[["dictionary", "control", "parent", "child"]] == [of, *cell]).all(axis=1)]
                for of in dictionaries
                for cell in cells
            }
            if all(map(len, known.values())):
                for side, more in known.items():
                    sides.setdefault(side, []).append(more)
        if not sides:
            return frame.reason() or f"not run at scale {frame.scale}"
        found = sum_over_seeds([*map(pandas.concat, sides.values())], (1, -1, -1, 1)[: len(sides)], "feature")
        return found or frame.reason() or f"not run at scale {frame.scale}"

    return find


def shares(frame: Frame) -> Estimate | str:
    """Share of persisting features from base to child less that of the twin, over seeds and children."""
    rows = _shares(frame, control="", parent="base", child=("lua", "stories"))
    return _less_twin([rows]) or frame.reason()


def _less_twin(sides: Sequence[Rows], weights: Sequence[int] = (1,)) -> Estimate | None:
    """A weighted sum of scores of learnt features less the same of the twin's, over seeds or features within few."""
    parts = [side[side["dictionary"] == of] for of in ("trained", "random") for side in sides]
    return sum_over_seeds(parts, [*weights, *(-weight for weight in weights)], "feature")


def formatted(frame: Frame) -> Estimate | str:
    """Activation on formatting of features that persist less that of those that do not, less the same of the twin.

    The twin's features are as dense, one by one: what density alone makes of persistence is in both."""
    rows = frame.select(metric="format_share")
    return _apart(rows) or _less_twin([rows[rows["group"] == group] for group in _GROUPS], (1, -1)) or frame.reason()


def explained_better(frame: Frame) -> Estimate | str:
    """Score of explanations of features that persist less that of those that do not, less the same of the twin."""
    rows = frame.select(metric="score")
    means = _means(rows, ["dictionary", "seed", "group"])
    return _apart(rows) or _less_twin([means[means["group"] == group] for group in _GROUPS], (1, -1)) or frame.reason()


def _means(rows: Rows, keys: list[str]) -> Rows:
    """Mean of the features' values with its interval over them, by `keys`."""
    found = {key: mean_over_units(part["value"], "feature") for key, part in rows.groupby(keys, sort=False)}
    lines = [(*key, one.value, one.low, one.high, one.n) for key, one in found.items()]
    return type(rows)(lines, columns=[*keys, "value", "low", "high", "n"])


def _apart(rows: Rows) -> str:
    for of, whose in (("trained", ""), ("random", " of the twin")):
        known = set(rows.loc[rows["dictionary"] == of, "group"])
        if lacks := [name for name in _GROUPS if name not in known]:
            return f"no feature{whose} {'persists' if lacks[0] == 'persisting' else 'disappears'}"
    return ""


def explained(frame: Frame) -> Estimate | str:
    """Score of a feature's own explanation less that of another feature's, less the same of the twin."""
    keys = ["dictionary", "seed", "feature"]
    wide = frame.select().pivot_table("value", keys, "metric").reset_index()
    if not {"score", "score_other"} <= set(wide):
        return frame.reason()
    gaps = wide.assign(value=wide["score"] - wide["score_other"])
    return _less_twin([_means(gaps, ["dictionary", "seed"])]) or frame.reason()


WAYS = {"F15": "linear", "F16": "task_arithmetic", "F17": "ties", "F18": "dare"}
"""Other ways to merge than slerp, by the claim on each."""
_POINTS = "share of features from base to child that persist, points"
_NATS = "loss on held-out text, nats a token"
CLAIMS = (
    Claim("F1", "Fine-tuning on Lua teaches Lua (model cards)", f"{_NATS}: Lua less base, on Lua", BELOW_ZERO,
          _loss("lua", "base", "lua")),
    Claim("F2", "Fine-tuning on stories teaches stories (model cards)", f"{_NATS}: stories less base, on stories",
          BELOW_ZERO, _loss("stories", "base", "stories")),
    Claim("F3", "Fine-tuning on Lua unlearns stories (ours)", f"{_NATS}: Lua less base, on stories", ABOVE_ZERO,
          _loss("lua", "base", "stories")),
    Claim("F4", "Fine-tuning on stories unlearns Lua (ours)", f"{_NATS}: stories less base, on Lua", ABOVE_ZERO,
          _loss("stories", "base", "lua")),
    Claim("F5", "The merged model lies between its parents on the text of both (Figure 5)",
          "least distance of the merged model from a child, nats", ABOVE_ZERO, between,
          {**_MODELS, "model": ("lua", "stories", "merged"), "corpus": ("lua", "stories")}),
    Claim("F6",
          "From Lua to stories, accuracy on Lua falls and that on stories rises at every step (Figure 5; the "
          "released sweep does)", "least step of accuracy along the sweep, points", ABOVE_ZERO, monotone,
          {**_MODELS, "model": "sweep"}),
    Claim("F7", "Few features persist through fine-tuning (second-hand): fewer than of a random dictionary",
          f"{_POINTS}: less that of the twin", BELOW_ZERO, shares, _COUNTED),
    Claim("F8",
          "Features persist because the child comes from the base: more than between a child and a base of another "
          "start (ours)", f"{_POINTS}: less the floor (a base of another start), less the same of the twin", ABOVE_ZERO,
          share_less("unrelated model", lambda _parent, child: ("unrelated", child)), _COUNTED),
    Claim("F9", "Fine-tuning loses features: fewer persist than between two autoencoders of one model (ours)",
          f"{_POINTS}: less that of another autoencoder of the base, less the same of the twin", BELOW_ZERO,
          share_less("other autoencoder", lambda parent, _child: (parent, f"{parent}_again")), _COUNTED),
    Claim("F10",
          "Autoencoders that start alike match for that reason: more persist than where the child's starts otherwise"
          " (ours)", f"{_POINTS}: less that of an autoencoder of another start, less the same of the twin", ABOVE_ZERO,
          share_less("other seed across", lambda parent, child: (parent, f"{child}_again")), _COUNTED),
    Claim("F11", "Features of autoencoders persist more than the neurons do (ours)", f"{_POINTS}: less that of neurons",
          ABOVE_ZERO,
          share_less("neurons", lambda parent, child: (f"{parent}_neurons", f"{child}_neurons"), twin=False), _COUNTED),
    Claim("F12", "Features that persist are generic, punctuation and formatting (second-hand)",
          "activation on tokens without letter or digit, persisting less disappeared, points, less the same of the "
          "twin", ABOVE_ZERO, formatted, {"part": "formatting"}),
    Claim("F13",
          "Features that persist into the merged model are explained better (Figure 6 puts the two side by side)",
          "score of explanations, persisting less disappeared, less the same of the twin", ABOVE_ZERO, explained_better,
          {"part": "interpretation"}),
    Claim("F14", "Explanations say something of their own feature (ours: against another feature's)",
          "score of a feature's own explanation less that of another's, less the same of the twin", ABOVE_ZERO,
          explained, {"part": "interpretation"}),
    *(
        Claim(name, f"{title} merges the children better than slerp does (ours)",
              f"{_NATS}: less slerp, mean over both corpora, each at its best point", BELOW_ZERO, merges_better(way),
              {**_MODELS, "model": (way, "sweep"), "corpus": ("lua", "stories")})
        for (name, way), title in zip(
            WAYS.items(), ("The line between the weights", "Task arithmetic", "TIES", "DARE"), strict=True
        )
    ),
)  # fmt: skip
TWINS = (
    Twin(("F7", "F8", "F9", "F10", "F12", "F13", "F14"), "a random dictionary of equal number and density",
         learned={"dictionary": "trained"}, rows={"dictionary": "random"}),
    Twin(("F1", "F2", "F3", "F4", "F5"), "no update: the base model itself",
         learned={"part": "models", "model": ("lua", "stories", "merged")}, rows={"model": "base"}),
    Twin(("F6",), why_not="a sweep between two models without updates is flat, and the claim asks for steps"),
    Twin(tuple(WAYS), why_not="both sides merge the same trained models; neither learns"),
    Twin(("F11",), why_not="both sides read the same trained models; the random dictionary beside the neurons is F7"),
)  # fmt: skip
