"""Claims of universal features: what is measured, and the rule that was written before the number was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reprlab.results.claims import Claim, NoVerdict
from reprlab.results.contrasts import Ratio
from reprlab.results.frame import Choice, Frame, Option
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate, Rule, mean_over_units

_LOSS = ("loss_sum", "count")
_HALF = 50.0
# Where features are counted for the claims: all positions, every partner counts, the paper's threshold.
_COUNTED: dict[str, Choice] = {
    "part": "flow", "positions": "all", "match": "many", "threshold": Option("threshold"), "metric": "share_parent",
}  # fmt: skip


def _loss(first: str, second: str, corpus: str) -> Ratio:
    """Nats a token of a model on a corpus less those of another on the same batches."""
    about: dict[str, Choice] = {"part": "models", "corpus": corpus}
    return Ratio(_LOSS, {**about, "model": first}, {**about, "model": second})


def _rates(frame: Frame, what: str) -> Any:
    """A sum of each model, t and corpus over the count, by seed."""
    rows = frame.select(metric=(what, "count"))
    wide = rows.pivot_table("value", ["seed", "corpus", "model", "t"], "metric", aggfunc="sum", dropna=False)
    return (wide[what] / wide["count"]).dropna().reset_index(name="rate")


def between(frame: Frame) -> Estimate | str:
    """Nats by which the merged model lies between the children: the least of both sides on both corpora, by seed."""
    rates = frame.select(metric=_LOSS).pivot_table("value", ["seed", "corpus", "model"], "metric", aggfunc="sum")
    loss = (rates["loss_sum"] / rates["count"]).unstack("model")
    own = {"lua": "lua", "stories": "stories"}
    gaps: dict[int, list[float]] = {}
    for (seed, corpus), row in loss.iterrows():
        other = "stories" if corpus == "lua" else "lua"
        gaps.setdefault(seed, []).extend([row["merged"] - row[own[corpus]], row[other] - row["merged"]])
    return mean_over_units([min(values) for values in gaps.values()], "seed")


def monotone(frame: Frame) -> Estimate | str:
    """Points of accuracy by which the sweep moves the right way from each t to the next, the least step, by seed."""
    rates = _rates(frame, "correct")
    found = []
    for _, rows in rates.groupby("seed"):
        steps: list[float] = []
        for corpus, sign in (("lua", -1), ("stories", 1)):
            ordered = rows[rows["corpus"] == corpus].sort_values("t")["rate"]
            steps += list(100 * sign * ordered.diff().dropna())
        found.append(min(steps))
    return mean_over_units(found, "seed")


def share_less(control: str, partner: Callable[[str, str], tuple[str, str]]) -> Callable[[Frame], Estimate | str]:
    """Share of persisting features from base to child, in points, less that of a control, over seeds and children."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select()
        known = rows.set_index(["seed", "control", "parent", "child"])["value"].to_dict()
        gaps, seeds = [], []
        for seed in dict.fromkeys(rows["seed"]):
            for child in ("lua", "stories"):
                one, two = known.get((seed, "", "base", child)), known.get((seed, control, *partner("base", child)))
                if one is not None and two is not None:
                    gaps.append(one - two)
                    seeds.append(seed)
        if not gaps:
            return frame.reason() or f"not run at scale {frame.scale}"
        return mean_over_units(gaps, "seed", groups=seeds)

    return find


def shares(frame: Frame) -> Estimate | str:
    """Share of persisting features from base to child, over seeds and children.

    Where two autoencoders of the base itself share fewer than half of their features, fewer persist whatever
    fine-tuning did, in shuffled positions too: the number decides nothing there.
    """
    rows = frame.select(control="", parent="base", child=("lua", "stories"))
    if not len(rows):
        return frame.reason()
    found = mean_over_units(rows["value"], "seed", groups=rows["seed"])
    ceiling = frame.select(control="other autoencoder", parent="base")["value"].mean()
    if ceiling < _HALF:
        raise NoVerdict(found, f"two autoencoders of the base share {ceiling:.1f} % of its features, under half")
    return found


def groups_apart(metric: str, value: str) -> Callable[[Frame], Estimate | str]:
    """Mean of features that persist less that of those that do not, over seeds."""

    def find(frame: Frame) -> Estimate | str:
        rows = frame.select(metric=metric)
        means = rows.groupby(["seed", "group"])["value"].mean().unstack("group")
        if not {"persisting", "disappeared"} <= set(means):
            return f"no feature {'persists' if 'persisting' not in means else 'disappears'}"
        return mean_over_units((means["persisting"] - means["disappeared"]).dropna(), value)

    return find


def explained(frame: Frame) -> Estimate | str:
    """Score of a feature's own explanation less that of another feature's, over seeds."""
    wide = frame.select().pivot_table("value", ["seed", "feature"], "metric")
    gaps = (wide["score"] - wide["score_other"]).dropna()
    return mean_over_units(gaps.groupby("seed").mean(), "seed") if len(gaps) else frame.reason()


_POINTS = "share of features from base to child that persist, points"
_NATS = "loss on held-out text, nats a token"
_MODELS: dict[str, Choice] = {"part": "models"}
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
          groups_apart("format_share", "seed"), {"part": "formatting"}),
    Claim("F13",
          "Features that persist into the merged model are explained better (Figure 6 puts the two side by side)",
          "score of explanations, persisting less disappeared", ABOVE_ZERO, groups_apart("score", "seed"),
          {"part": "interpretation"}),
    Claim("F14", "Explanations say something of their own feature (ours: against another feature's)",
          "score of a feature's own explanation less that of another's", ABOVE_ZERO, explained,
          {"part": "interpretation"}),
)  # fmt: skip
