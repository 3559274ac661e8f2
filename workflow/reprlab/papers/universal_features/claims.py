"""Claims of universal features: what is measured, and the rule that was written before the number was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from reprlab.results.claims import Claim, NoVerdict
from reprlab.results.contrasts import Ratio, sum_over_seeds
from reprlab.results.frame import Choice, Frame, Option, Rows
from reprlab.statistics import (
    ABOVE_ZERO,
    BELOW_ZERO,
    Estimate,
    Rule,
    difference_of_groups,
    difference_over_pairs,
    least_of,
    over_seeds,
    proportion,
)

_LOSS = ("loss_sum", "count")
_GROUPS = ("persisting", "disappeared")
_MODELS: dict[str, Choice] = {"part": "models"}
_HALF = 50.0
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
    keys = ["seed", "control", "parent", "child"]
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


def share_less(control: str, partner: Callable[[str, str], tuple[str, str]]) -> Callable[[Frame], Estimate | str]:
    """Share of persisting features from base to child, in points, less that of a control, mean over children; over
    seeds, or over features within few of them."""

    def find(frame: Frame) -> Estimate | str:
        import pandas

        rows = _shares(frame)
        sides: tuple[list[Rows], list[Rows]] = ([rows.iloc[:0]], [rows.iloc[:0]])
        for child in ("lua", "stories"):
            cells = [("", "base", child), (control, *partner("base", child))]
            both = [rows[(rows[["control", "parent", "child"]] == list(cell)).all(axis=1)] for cell in cells]
            if all(map(len, both)):
                for side, more in zip(sides, both, strict=True):
                    side.append(more)
        return (
            sum_over_seeds([*map(pandas.concat, sides)], (1, -1), "feature")
            or frame.reason()
            or f"not run at scale {frame.scale}"
        )

    return find


def shares(frame: Frame) -> Estimate | str:
    """Share of persisting features from base to child, over seeds and children.

    Where two autoencoders of the base itself share fewer than half of their features, fewer persist whatever
    fine-tuning did, in shuffled positions too: the number decides nothing there.
    """
    found = sum_over_seeds([_shares(frame, control="", parent="base", child=("lua", "stories"))], [1], "feature")
    if found is None:
        return frame.reason()
    two = {"control": "other autoencoder", "parent": "base", "metric": "share_parent"}
    ceiling = frame.select(**two)["value"].mean()
    if ceiling < _HALF:
        raise NoVerdict(found, f"two autoencoders of the base share {ceiling:.1f} % of its features, under half")
    return found


def formatted(frame: Frame) -> Estimate | str:
    """Activation on formatting of features that persist less that of those that do not, over seeds or features."""
    rows = frame.select(metric="format_share")
    sides = [rows[rows["group"] == group] for group in _GROUPS]
    return _apart(rows) or sum_over_seeds(sides, (1, -1), "feature") or frame.reason()


def explained_better(frame: Frame) -> Estimate | str:
    """Score of the explanations of features that persist less that of those that do not, over seeds or features."""

    def apart(one: Frame) -> Estimate:
        rows = one.select(metric="score")
        first, second = (rows.loc[rows["group"] == group, "value"] for group in _GROUPS)
        return difference_of_groups(first, second, "feature")

    rows = frame.select(metric="score")
    return _apart(rows) or _over_seeds(one for one in map(apart, _of_each_seed(frame)) if one.n)


def _apart(rows: Rows) -> str:
    lacks = [name for name in _GROUPS if name not in set(rows["group"])]
    return f"no feature {'persists' if lacks[0] == 'persisting' else 'disappears'}" if lacks else ""


def explained(frame: Frame) -> Estimate | str:
    """Score of a feature's own explanation less that of another feature's, over seeds, or features within few."""

    def gaps(one: Frame) -> Estimate:
        wide = one.select().pivot_table("value", ["model", "feature"], "metric")
        return difference_over_pairs(wide["score"], wide["score_other"], "feature")

    return _over_seeds(map(gaps, _of_each_seed(frame)))


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
    Claim("F7", "Few features persist through fine-tuning (second-hand): less than half",
          "share of features from base to child that persist, percent", Rule(high=_HALF), shares, _COUNTED),
    Claim("F8",
          "Features persist because the child comes from the base: more than between a child and a base of another "
          "start (ours)", f"{_POINTS}: less the floor (a base of another start)", ABOVE_ZERO,
          share_less("unrelated model", lambda _parent, child: ("unrelated", child)), _COUNTED),
    Claim("F9", "Fine-tuning loses features: fewer persist than between two autoencoders of one model (ours)",
          f"{_POINTS}: less the ceiling (another autoencoder of the base)", BELOW_ZERO,
          share_less("other autoencoder", lambda parent, _child: (parent, f"{parent}_again")), _COUNTED),
    Claim("F10",
          "Autoencoders that start alike match for that reason: more persist than where the child's starts otherwise"
          " (ours)", f"{_POINTS}: less that of an autoencoder of another start", ABOVE_ZERO,
          share_less("other seed across", lambda parent, child: (parent, f"{child}_again")), _COUNTED),
    Claim("F11", "Features of autoencoders persist more than the neurons do (ours)", f"{_POINTS}: less that of neurons",
          ABOVE_ZERO, share_less("neurons", lambda parent, child: (f"{parent}_neurons", f"{child}_neurons")), _COUNTED),
    Claim("F12", "Features that persist are generic, punctuation and formatting (second-hand)",
          "activation on tokens without letter or digit, persisting less disappeared, points", ABOVE_ZERO,
          formatted, {"part": "formatting"}),
    Claim("F13",
          "Features that persist into the merged model are explained better (Figure 6 puts the two side by side)",
          "score of explanations, persisting less disappeared", ABOVE_ZERO, explained_better,
          {"part": "interpretation"}),
    Claim("F14", "Explanations say something of their own feature (ours: against another feature's)",
          "score of a feature's own explanation less that of another's", ABOVE_ZERO, explained,
          {"part": "interpretation"}),
)  # fmt: skip
