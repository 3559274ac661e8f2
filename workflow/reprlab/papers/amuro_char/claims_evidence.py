"""Statistics behind the claims, each with an interval: bootstrap over sets and checkpoints, or over batches; for a
difference of two scores the normal interval from their bootstrap standard errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from reprlab.artifacts.tables import read_tsv
from reprlab.evaluation.bootstrap import mean_interval
from reprlab.papers.amuro_char.aggregate import changes, complete, group_means
from reprlab.papers.amuro_char.layouts import ClaimsLayout
from reprlab.papers.amuro_char.names import BASE, PREDICTION_METHODS, SIDE_METHODS, Pair, checkpoint_order
from reprlab.papers.amuro_char.tables_changes import unlabelled_table
from reprlab.papers.amuro_char.tables_common import (
    first_checkpoint,
    headline_scores,
    in_pairs,
    last_checkpoint,
    read_perf,
)
from reprlab.papers.amuro_char.tables_scores import prediction_table
from reprlab.reporting.intervals import Estimate, ratio_difference

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Found:
    """A statistic, and what its note says about it."""

    estimate: Estimate
    note: str = ""


class Evidence:
    """Statistics of one model: the first that has a ladder of checkpoints, unless another is named."""

    def __init__(self, layout: ClaimsLayout, family: str = "") -> None:
        self.layout, self.groups = layout, layout.aggregate.groups
        perf = headline_scores(layout.aggregate)
        self.families = list(dict.fromkeys(perf["family"]))
        ladders = [name for name in self.families if perf[perf["family"] == name]["ckpt"].nunique() > 1]
        self.family = family or next(iter([*ladders, *self.families]), "")
        self.perf = perf[perf["family"] == self.family]
        self.first, self.last = first_checkpoint(self.perf), last_checkpoint(self.perf)

    @property
    def note(self) -> str:
        """Scale, model, and how many fine-tuned scores did not beat their trivial baseline."""
        tuned = self.perf[(self.perf["train"] != BASE) & self.perf["learned"].notna()]
        lost = int((tuned["learned"] == "not learned").sum())
        about = f"scale {self.layout.aggregate.scale}, {self.family}"
        return f"{about}; not learned: {lost} of {len(tuned)} fine-tuned scores" if len(tuned) else about

    def mean(self, values: Iterable[Any], note: str = "") -> Found | None:
        """Mean with the bootstrap over the values that are known; None below two."""
        known = [float(value) for value in values if not math.isnan(value)]
        if len(known) < 2:
            return None
        statistics = self.layout.aggregate.statistics
        value, low, high = mean_interval(
            known, resamples=statistics.resamples, level=statistics.confidence, seed=statistics.seed
        )
        return Found(Estimate(value, low, high, len(known)), note)

    @cached_property
    def in_domain(self) -> pandas.DataFrame:
        """Changes on the sets of the training tasks."""
        return changes(self.perf, self.groups.in_domain)

    def largest_gain(self) -> Found | None:
        """Largest gain on a classification set at the last checkpoint; the interval allows for the choice of it."""
        rows = self.perf[(self.perf["ckpt"] == self.last) & (self.perf["kind"] == "classification")]
        scores = rows.set_index(["eval", "train"])
        pairs = [pair for pair in self.groups.in_domain if pair in scores.index and (pair.eval, BASE) in scores.index]
        if not pairs:
            return None
        alpha = (1 - self.layout.aggregate.statistics.confidence) / len(pairs)
        reach = NormalDist().inv_cdf(1 - alpha / 2)
        gains = {}
        for pair in pairs:
            tuned, base = (
                scores.loc[[key]].to_dict("records")[0] for key in ((pair.eval, pair.train), (pair.eval, BASE))
            )
            gain = float(tuned["performance"] - base["performance"])
            error = reach * float(tuned["std"] ** 2 + base["std"] ** 2) ** 0.5
            gains[pair] = (gain, gain - error, gain + error, int(tuned["n"]), str(tuned["learned"]))
        best = max(gains, key=lambda pair: gains[pair][0])
        told = ", ".join(f"{pair.eval} {gain:+.3f} ({verdict})" for pair, (gain, *_, verdict) in gains.items())
        return Found(Estimate(*gains[best][:4]), f"{best.eval} at checkpoint {self.last}; all: {told}")

    def without_demonstrations(self) -> Found | None:
        """Largest lead of a fine-tuned model that gets no shots over the most frequent class, on a classification set
        of its task at the last checkpoint; the interval allows for the choice of it."""
        layout = self.layout.aggregate
        perf = read_perf(layout.perf)
        rows = perf[(perf["family"] == self.family) & (perf["shots"] == 0) & (perf["fmt"] == layout.fmt)]
        rows = rows[(rows["kind"] == "classification") & ~rows["method"].isin(SIDE_METHODS)]
        rows = rows[in_pairs(rows, self.groups.in_domain) & (rows["ckpt"] == self.last)]
        if rows.empty:
            return None
        alpha = (1 - layout.statistics.confidence) / len(rows)
        reach = NormalDist().inv_cdf(1 - alpha / 2)
        rows = rows.assign(lead=rows["performance"] - rows["majority"]).sort_values("lead", ascending=False)
        best = rows.iloc[0]
        lead, error = float(best["lead"]), reach * float(best["std"])
        told = ", ".join(
            f"{row['eval']} {row['performance']:.3f} against {row['majority']:.3f} ({row['learned']})"
            for row in rows.to_dict("records")
        )
        return Found(Estimate(lead, lead - error, lead + error, int(best["n"])), f"checkpoint {self.last}: {told}")

    def distance_from_majority(self) -> Found | None:
        """Un-tuned accuracy minus that of the most frequent class, over classification sets and checkpoints."""
        rows = self.perf[(self.perf["train"] == BASE) & (self.perf["kind"] == "classification")]
        return self.mean(
            rows["performance"] - rows["majority"],
            f"mean share of the most frequent answer {rows['top_share'].mean():.2f}",
        )

    def transfer(self, direction: str) -> Found | None:
        """Mean ratio of change over the pairs of a direction and all checkpoints."""
        found = complete(changes(self.perf, self.groups.mrc.get(direction, [])))
        ratios = found["ratio"].dropna()
        skipped = int((found["base"] == 0).sum())
        return self.mean(ratios, f"median {ratios.median():.3f}; {skipped} zero bases skipped")

    def no_ratio(self, direction: str) -> str:
        """Why there is no mean ratio of change; empty where nothing was run."""
        found = changes(self.perf, self.groups.mrc.get(direction, []))
        if found.empty or len(found["ratio"].dropna()) > 1:
            return ""
        return f"{int((found['base'] == 0).sum())} of {len(found)} scores before fine-tuning are zero: no ratios"

    def formats(self, first: str, second: str) -> pandas.Series:
        """Score in one format minus that in another, fine-tuned models on their own tasks, by set and checkpoint."""
        layout = self.layout.aggregate
        perf = read_perf(layout.perf)
        perf = perf[(perf["family"] == self.family) & (perf["shots"] == layout.shots)]
        perf = perf[in_pairs(perf, self.groups.in_domain) & ~perf["method"].isin(SIDE_METHODS)]
        wide = perf.pivot_table(index=["eval", "train", "ckpt"], columns="fmt", values="performance")
        if first not in wide or second not in wide:
            return wide.assign(nothing=1.0)["nothing"].iloc[:0]
        gaps: pandas.Series = (wide[first] - wide[second]).dropna()
        return gaps

    def default_against_io(self) -> Found | None:
        """Default minus io, over sets and checkpoints."""
        return self.mean(self.formats("default", "io"))

    def fall_of_sensitivity(self) -> Found | None:
        """|default - instruct| at the first checkpoint with all sets minus that at the last, over sets."""
        gaps = self.formats("default", "instruct").abs().unstack("ckpt")
        known = gaps.notna().sum()
        gaps = gaps.loc[:, known == known.max()]
        if gaps.shape[1] < 2:
            return None
        start, end = (pick(list(gaps), key=checkpoint_order) for pick in (min, max))
        return self.mean(gaps[start] - gaps[end], f"checkpoints {start} and {end}")

    def between_checkpoints(self, column: str, pairs: Sequence[Pair], start: str = "") -> Found | None:
        """`column` of the changes (tuned or difference) at the last checkpoint minus that at `start`, over pairs.

        `start` is the first checkpoint with all pairs unless it is given.
        """
        changed = complete(changes(self.perf, pairs))
        found = changed.pivot_table(index=["eval", "train"], columns="ckpt", values=column)
        start, end = start or first_checkpoint(changed), last_checkpoint(changed)
        if start == end or start not in found:
            return None
        return self.mean(found[end] - found[start], f"checkpoint {end} minus {start}")

    def untuned_between(self, evals: Sequence[str], start: str = "", end: str = "") -> Found | None:
        """Un-tuned score at one checkpoint minus that at another, over sets."""
        start, end = start or self.first, end or self.last
        rows = self.perf[(self.perf["train"] == BASE) & self.perf["eval"].isin(evals)]
        wide = rows.pivot_table(index="eval", columns="ckpt", values="performance")
        if start == end or start not in wide or end not in wide:
            return None
        return self.mean((wide[end] - wide[start]).dropna(), f"checkpoint {end} minus {start}")

    def out_of_domain(self, task: str) -> Found | None:
        """Mean difference of fine-tuning out of domain, over sets and checkpoints."""
        found = complete(changes(self.perf, self.groups.out_of_domain.get(task, [])))
        return self.mean(found["difference"], f"sets: {', '.join(dict.fromkeys(found['eval']))}")

    def effect_of_missing_golds(self) -> Found | None:
        """Change of fine-tuning with all golds read as "no" minus the change with the labels, over sets and
        checkpoints."""
        frame = unlabelled_table(self.layout.aggregate)
        frame = frame[(frame["family"] == self.family) & (frame["train"] != BASE)]
        gaps = (frame["change_as_no"] - frame["change_labelled"]).astype(float)
        means = frame[["change_labelled", "change_as_no"]].astype(float).mean()
        told = (
            f"mean change {means['change_labelled']:+.3f} with labels, {means['change_as_no']:+.3f} with golds as 'no'"
        )
        return self.mean(gaps, told)

    def spread_of_methods(self) -> Found | None:
        """Range over prediction methods, un-tuned minus fine-tuned, over the rows of Table 3."""
        frame = prediction_table(self.layout.aggregate)
        frame = frame[frame["family"] == self.family]
        known = frame.dropna(subset=list(PREDICTION_METHODS))
        values = known[list(PREDICTION_METHODS)].astype(float)
        spread = (values.max(axis=1) - values.min(axis=1)).groupby([known["dataset"], known["model"]]).mean().unstack()
        if "BASE" not in spread or "Fine-tuned" not in spread:
            return None
        return self.mean((spread["BASE"] - spread["Fine-tuned"]).dropna())

    def gap_of_groups(self) -> Found | None:
        """Mean gain of the sets learned in fine-tuning minus that of those learned in pre-training, by checkpoint."""
        groups = {
            "late": list(dict.fromkeys(self.groups.learned_in_finetune)),
            "early": list(dict.fromkeys(self.groups.learned_in_pretrain)),
        }
        means = group_means(self.perf, groups)
        return self.mean(means["late"] - means["early"])

    def fall_of_loss(self) -> Found | None:
        """Held-out loss of the last checkpoint minus that of the first, nats a token; paired by batch."""
        if self.layout.pretraining is None:
            return None
        frame = (
            read_tsv(self.layout.pretraining).groupby(["step", "batch"], as_index=False)[["loss_sum", "count"]].sum()
        )
        parts = [
            frame[frame["step"] == step].sort_values("batch") for step in (frame["step"].max(), frame["step"].min())
        ]
        last, first = ((part["loss_sum"].to_numpy(float), part["count"].to_numpy(float)) for part in parts)
        estimate = ratio_difference(last, first, self.layout.aggregate.statistics, paired=True)
        losses = [part["loss_sum"].sum() / part["count"].sum() for part in parts]
        steps = [int(part["step"].iloc[0]) for part in parts]
        told = f"{losses[1]:.3f} at step {steps[1]}, {losses[0]:.3f} at step {steps[0]}"
        return Found(estimate, told)
