"""Statistics behind the claims: each on all prompts and on every half of them, which gives the interval."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from reprlab.geometry.jackknife import correlation_interval, delete_half_interval
from reprlab.papers.intrinsic_dimension.layouts import Experiment, Grid
from reprlab.papers.intrinsic_dimension.measures import ALL, Frame, answers, areas, curves
from reprlab.reporting.intervals import Estimate

_SETTING = ["model", "dataset"]
_ESTIMATOR = "two_nn"
_RESAMPLES = 1_000


class Evidence:
    """Curves of all cells of a grid; the statistics take those of one experiment on one set of prompts."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    @cached_property
    def curves(self) -> Frame:
        """Every estimate of every cell."""
        return curves(self.grid.cells)

    @property
    def note(self) -> str:
        """What every verdict rests on."""
        models = sorted({cell.model for cell in self.grid.cells})
        return f"scale {self.grid.scale}, {', '.join(models)}, one seed; TwoNN, AUC by the definition {self.grid.norm}"

    def of_halves(
        self, experiment: Experiment, statistic: Callable[[Frame], float], *, correlation: bool = False
    ) -> Estimate | None:
        """`statistic` of the TwoNN curves of an experiment, with its interval; None where the experiment was not run.

        `n` is the number of models and data sets.
        """
        frame = self.curves
        frame = frame[(frame["experiment"] == experiment) & (frame["estimator"] == _ESTIMATOR)]
        if frame.empty:
            return None
        value = statistic(frame[frame["items"] == ALL])
        halves = frame[frame["items"].str.startswith("half ")]
        values = [statistic(half) for _, half in halves.groupby("items")]
        interval = correlation_interval if correlation else delete_half_interval
        low, high = interval(value, values, self.grid.confidence)
        return Estimate(value, low, high, len(frame[_SETTING].drop_duplicates()))

    def difference(self, frame: Frame, first: str, second: str) -> float:
        """AUC of one condition minus that of another, mean over models and data sets; NaN where one is missing."""
        wide = self._by_condition(frame)
        if first not in wide or second not in wide:
            return float("nan")
        return float((wide[first] - wide[second]).mean())

    def nearer_to_zero_shot(self, frame: Frame) -> float:
        """How much farther sft_1k is from icl_5 than from icl_0."""
        wide = self._by_condition(frame)
        if not {"icl_0", "icl_5", "sft_1k"} <= set(wide):
            return float("nan")
        far, near = (wide["icl_5"] - wide["sft_1k"]).abs(), (wide["sft_1k"] - wide["icl_0"]).abs()
        return float((far - near).mean())

    def rise_of_fine_tuning(self, frame: Frame) -> float:
        """AUC at the last step minus AUC at step 0 on validation prompts."""
        found = self._areas(frame[frame["split"] == "validation"])
        wide = found.pivot_table(index=_SETTING, columns="step", values="auc")
        return float((wide[wide.columns.max()] - wide[0]).mean())

    def change_of_later_layers(self, frame: Frame) -> float:
        """Mean absolute change of dimension in the later half of the layers minus that in the early half."""
        found = frame[frame["split"] == "validation"]
        wide = found.pivot_table(index=[*_SETTING, "layer"], columns="step", values="id")
        change = (wide[wide.columns.max()] - wide[0]).abs().reset_index(name="change")
        late = change["layer"] > change.groupby(_SETTING)["layer"].transform("max") / 2
        return float(change.loc[late, "change"].mean() - change.loc[~late, "change"].mean())

    def correlation_of_splits(self, frame: Frame) -> float:
        """Pearson correlation over steps of the AUC of training and validation prompts; NaN for fewer than 3 steps."""
        wide = self._areas(frame).pivot_table(index=[*_SETTING, "step"], columns="split", values="auc")
        if "train" not in wide or frame["step"].nunique() < 3:
            return float("nan")
        return float(wide.groupby(_SETTING).apply(lambda rows: rows["train"].corr(rows["validation"])).mean())

    def rise_of_demonstrations(self, frame: Frame) -> float:
        """AUC of the largest k up to 5 minus AUC of k = 0."""
        few = [k for k in frame["k"].unique() if 0 < k <= 5]
        return self.difference(frame, f"icl_{max(few)}", "icl_0") if few else float("nan")

    def change_beyond_ten(self, frame: Frame) -> float:
        """AUC of the largest k minus AUC of k = 10; NaN where no k is above 10."""
        most = frame["k"].max()
        return self.difference(frame, f"icl_{most}", "icl_10") if most > 10 else float("nan")

    def spread_of_models(self) -> Estimate | None:
        """Largest minus smallest AUC of icl_5."""
        return self.of_halves("comparison", self._spread)

    def peaks(self) -> Estimate | None:
        """Share of settings in which the k of the largest AUC is that of the largest accuracy or its neighbour."""
        cells = [cell for cell in self.grid.cells if cell.experiment == "icl_dynamics"]
        if not cells:
            return None
        frame = self.curves.query("experiment == 'icl_dynamics' and estimator == @_ESTIMATOR and items == @ALL")
        auc = self._areas(frame).pivot_table(index=_SETTING, columns="k", values="auc")
        accuracy = {}
        for cell in cells:
            items = answers(cell)
            accuracy[cell.model, cell.dataset, cell.k] = float((items["label"] == items["prediction"]).mean())
        shots = sorted(auc.columns)
        near = []
        for setting, row in auc.iterrows():
            best = max(shots, key=lambda k: accuracy[(*setting, k)])
            near.append(abs(shots.index(row.idxmax()) - shots.index(best)) <= 1)
        return Estimate(sum(near) / len(near), float("nan"), float("nan"), len(near))

    def accuracy_difference(self, first: str, second: str) -> Estimate | None:
        """Difference in accuracy, paired by prompt; every setting is resampled by itself and they weigh the same."""
        import numpy as np

        from reprlab.evaluation.bootstrap import resample_sums

        compared = [cell for cell in self.grid.cells if cell.experiment == "comparison"]
        found = {(cell.model, cell.dataset, cell.condition): cell for cell in compared}
        settings = sorted({key[:2] for key in found if (*key[:2], first) in found and (*key[:2], second) in found})
        if not settings:
            return None
        values, samples, count = [], [], 0
        for number, setting in enumerate(settings):
            sides = [answers(found[(*setting, condition)]).set_index("id") for condition in (first, second)]
            right = [(side["label"] == side["prediction"]).astype(float) for side in sides]
            gain = (right[0] - right[1]).to_numpy()[:, None]
            values.append(float(gain.mean()))
            samples.append(resample_sums(gain, _RESAMPLES, self.grid.seed + number)[:, 0] / len(gain))
            count += len(gain)
        tail = 50 * (1 - self.grid.confidence)
        low, high = np.percentile(np.mean(samples, axis=0), [tail, 100 - tail])
        return Estimate(float(np.mean(values)), float(low), float(high), count)

    def correlation_of_estimators(self) -> Estimate | None:
        """Pearson correlation of TwoNN and Levina-Bickel over conditions and layers."""
        frame = self.curves
        frame = frame[(frame["experiment"] == "comparison") & frame["estimator"].isin([_ESTIMATOR, "levina_bickel"])]
        keys = [*_SETTING, "condition", "layer"]
        wide = frame.pivot_table(index=["items", *keys], columns="estimator", values="id").dropna()
        if "levina_bickel" not in wide:
            return None
        by_items = wide.groupby("items").apply(lambda rows: rows[_ESTIMATOR].corr(rows["levina_bickel"]))
        halves = by_items[by_items.index.str.startswith("half ")].tolist()
        low, high = correlation_interval(float(by_items[ALL]), halves, self.grid.confidence)
        return Estimate(float(by_items[ALL]), low, high, int((wide.index.get_level_values("items") == ALL).sum()))

    def _spread(self, frame: Frame) -> float:
        wide = self._by_condition(frame)
        if "icl_5" not in wide or len(wide) < 2:
            return float("nan")
        return float(wide["icl_5"].max() - wide["icl_5"].min())

    def _by_condition(self, frame: Frame) -> Frame:
        return self._areas(frame).pivot_table(index=_SETTING, columns="condition", values="auc")

    def _areas(self, frame: Frame) -> Frame:
        return areas(frame, self.grid.norm)
