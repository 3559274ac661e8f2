"""The claims of the paper on intrinsic dimension, and the rules that decide them, written before any number was seen.

Section 6 of the specification lists what short runs cannot show: the plateau beyond ten demonstrations, the peak of the
AUC at the peak of accuracy, likeness across model families. Below paper scale their numbers are reported, not judged.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from reprlab.papers.intrinsic_dimension.claims_evidence import Evidence
from reprlab.papers.intrinsic_dimension.layouts import Grid
from reprlab.papers.intrinsic_dimension.tables import read_grid
from reprlab.reporting.claims import ABOVE_ZERO, INCONCLUSIVE, ClaimRow, Rule, decide, missing, not_testable
from reprlab.reporting.intervals import Estimate

_HALVES = "delete-half jackknife over prompts"


def claims(layout: str, inputs: list[Path]) -> list[ClaimRow]:
    """All claims, from a `GridLayout` given as JSON.

    Raises:
        ReprlabError: the layout is not valid or names a file that is no input.
    """
    return claim_rows(read_grid(layout, inputs, "claims"))


def claim_rows(grid: Grid) -> list[ClaimRow]:
    """All claims of a grid."""
    judge = _Judge(Evidence(grid))
    return [*judge.fine_tuning(), *judge.demonstrations(), *judge.paradigms(), judge.estimators()]


class _Judge:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    def fine_tuning(self) -> list[ClaimRow]:
        """Section 5."""
        evidence = self.evidence
        return [
            self._decide(
                "I1",
                "intrinsic dimension rises in the course of fine-tuning (5.2)",
                "AUC of the last step minus AUC of step 0, validation, mean over models and data sets",
                evidence.of_halves("sft_dynamics", evidence.rise_of_fine_tuning),
            ),
            self._decide(
                "I2",
                "the later layers change more than the early ones (5.2)",
                "mean absolute change of the later half of the layers minus that of the early half, step 0 to the last",
                evidence.of_halves("sft_dynamics", evidence.change_of_later_layers),
            ),
            self._decide(
                "I3",
                "AUC of training and validation prompts go together along the steps (5.2)",
                "Pearson correlation over steps, mean over models and data sets, as many prompts of both",
                evidence.of_halves("sft_dynamics", evidence.correlation_of_splits, correlation=True),
            ),
        ]

    def demonstrations(self) -> list[ClaimRow]:
        """Section 6."""
        evidence = self.evidence
        peaks = evidence.peaks()
        return [
            self._decide(
                "I4",
                "intrinsic dimension rises from zero to five demonstrations (6.2)",
                "AUC of icl_5 minus AUC of icl_0, mean over models and data sets",
                evidence.of_halves("comparison", lambda frame: evidence.difference(frame, "icl_5", "icl_0")),
            ),
            self._decide(
                "I5",
                "it rises as well when no demonstration is shared between prompts (6.2, appendix D)",
                "AUC of the largest k up to 5 minus AUC of k = 0, mean over models and data sets",
                evidence.of_halves("icl_unique", evidence.rise_of_demonstrations),
            ),
            self._large_only(
                "I6",
                "beyond ten demonstrations it stays or falls (6.2)",
                Rule(high=0.0),
                "AUC of the largest k minus AUC of k = 10, mean over models and data sets",
                evidence.of_halves("icl_dynamics", evidence.change_beyond_ten),
                _HALVES,
            ),
            self._large_only(
                "I7",
                "the k of the largest AUC is the k of the largest accuracy, or its neighbour (6.2)",
                Rule(low=0.5),
                "share of models and data sets where both k are the same or next to each other in the grid",
                peaks,
                "" if peaks is None else "none: one value",
            ),
        ]

    def paradigms(self) -> list[ClaimRow]:
        """Section 7."""
        evidence = self.evidence
        spread = evidence.spread_of_models()
        return [
            self._decide(
                "I8",
                "five demonstrations give a higher intrinsic dimension than fine-tuning (7.2)",
                "AUC of icl_5 minus AUC of sft_1k, mean over models and data sets",
                evidence.of_halves("comparison", lambda frame: evidence.difference(frame, "icl_5", "sft_1k")),
            ),
            self._decide(
                "I9",
                "fine-tuned models stay nearer to zero-shot than to five demonstrations (7.2)",
                "|AUC icl_5 - AUC sft_1k| minus |AUC sft_1k - AUC icl_0|, mean over models and data sets",
                evidence.of_halves("comparison", evidence.nearer_to_zero_shot),
            ),
            self._decide(
                "I10",
                "fine-tuned models are more accurate than five demonstrations (7.4)",
                "accuracy of sft_1k minus that of icl_5, mean over models and data sets",
                evidence.accuracy_difference("sft_1k", "icl_5"),
                "paired bootstrap over prompts",
            ),
            self._large_only(
                "I11",
                "AUCs of icl_5 are alike across model families: within a range of 20 (7.3.1)",
                Rule(high=20.0),
                "largest minus smallest AUC of icl_5 over models and data sets",
                spread,
                _HALVES,
            ),
        ]

    def estimators(self) -> ClaimRow:
        """Appendix F."""
        return self._decide(
            "I12",
            "TwoNN and Levina-Bickel agree (appendix F)",
            "Pearson correlation over conditions and layers",
            self.evidence.correlation_of_estimators(),
        )

    def _decide(
        self, id: str, claim: str, statistic: str, estimate: Estimate | None, interval: str = _HALVES
    ) -> ClaimRow:
        if estimate is None or math.isnan(estimate.value):
            return missing(id, claim, ABOVE_ZERO, statistic, f"not run at scale {self.evidence.grid.scale}")
        if self.evidence.grid.scale == "nano":
            return not_testable(id, claim, ABOVE_ZERO, statistic, estimate, "a random model, for tests")
        row = decide(id, claim, ABOVE_ZERO, statistic, estimate, interval, self.evidence.note)
        # An interval that touches 0, as that of two equal rows, shows no direction.
        touches = estimate.low <= 0 <= estimate.high
        return replace(row, verdict=INCONCLUSIVE) if touches else row

    def _large_only(
        self, id: str, claim: str, rule: Rule, statistic: str, estimate: Estimate | None, interval: str
    ) -> ClaimRow:
        if self.evidence.grid.scale != "paper":
            known = None if estimate is None or math.isnan(estimate.value) else estimate
            return not_testable(id, claim, rule, statistic, known, "needs the published models")
        if estimate is None or math.isnan(estimate.value):
            return missing(id, claim, rule, statistic, "not run")
        return decide(id, claim, rule, statistic, estimate, interval, self.evidence.note)
