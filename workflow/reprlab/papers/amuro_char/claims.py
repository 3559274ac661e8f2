"""The claims of amuro-char, and the rules that decide them, written before any number was seen.

Section 6 of the specification lists what a small ladder cannot show: that named benchmarks fall into learned and not
learned ones, the turning points at 342,000 and 424,000 steps, few-shot ability. Below paper scale their numbers are
reported, not judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from reprlab.papers.amuro_char.claims_evidence import Evidence, Found
from reprlab.papers.amuro_char.layouts import ClaimsLayout
from reprlab.papers.amuro_char.names import CLASS_TO_GEN, GEN_TO_CLASS
from reprlab.reporting.claims import ABOVE_ZERO, BELOW_ZERO, ClaimRow, Rule, decide, missing, not_testable
from reprlab.reporting.layouts import read_layout

# "Strongly": a quarter of the score at least. The paper calls +10.6 % "similar".
_LOST, _KEPT = Rule(high=-0.25), Rule(low=-0.15, high=0.15)
_NEAR_MAJORITY, _LEVEL = Rule(low=-0.1, high=0.1), Rule(low=-0.02, high=0.02)
_SETS = "bootstrap over sets and checkpoints, 95 %"
_PAIRS = "bootstrap over sets, 95 %"
_BATCHES = "bootstrap over held-out batches, 95 %"
_NORMAL = "normal, from bootstrap standard errors over examples; Bonferroni over the sets"


def claims(layout: str, inputs: list[Path]) -> list[ClaimRow]:
    """All claims, from a `ClaimsLayout` given as JSON.

    Raises:
        ReprlabError: the layout is not valid or names a file that is no input.
    """
    return claim_rows(read_layout(ClaimsLayout, layout, inputs, "claims"))


def claim_rows(layout: ClaimsLayout) -> list[ClaimRow]:
    """All claims of a layout."""
    judge = _Judge(Evidence(layout))
    return [
        *judge.transfer(),
        *judge.formats(),
        *judge.domains(),
        *judge.pretraining(),
        *judge.groups(),
        *judge.demonstrations(),
    ]


class _Judge:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.scale = evidence.layout.aggregate.scale

    def transfer(self) -> Iterator[ClaimRow]:
        """Section 4.3 and appendix G."""
        evidence = self.evidence
        yield self._decide(
            "A1",
            "fine-tuning helps on the task it was made for (4.2, 6)",
            ABOVE_ZERO,
            "accuracy, fine-tuned minus base, last checkpoint, the classification set that gains most",
            evidence.largest_gain(),
            _NORMAL,
        )
        yield self._decide(
            "A2",
            "before fine-tuning, classification is no better than a constant answer (4.3)",
            _NEAR_MAJORITY,
            "accuracy of base minus that of the most frequent class, mean over sets and checkpoints",
            evidence.distance_from_majority(),
            _SETS,
        )
        for place, family in enumerate(dict.fromkeys([evidence.family, *evidence.families])):
            own = evidence if place == 0 else Evidence(evidence.layout, family)
            letter = "" if place == 0 else "abcdefgh"[place]
            yield self._decide(
                f"A3{letter}",
                "fine-tuning on classification destroys generation (4.3)",
                _LOST,
                f"MRC class->gen of {family}, mean over pairs and checkpoints",
                own.transfer(CLASS_TO_GEN),
                _SETS,
                reason=own.no_ratio(CLASS_TO_GEN),
                about=own.note,
            )
            yield self._decide(
                f"A4{letter}",
                "fine-tuning on generation leaves classification as it was (4.3)",
                _KEPT,
                f"MRC gen->class of {family}, mean over pairs and checkpoints",
                own.transfer(GEN_TO_CLASS),
                _SETS,
                reason=own.no_ratio(GEN_TO_CLASS),
                about=own.note,
            )

    def demonstrations(self) -> Iterator[ClaimRow]:
        """What the shots do to models that were fine-tuned without any (ours)."""
        evidence = self.evidence
        for place, family in enumerate(dict.fromkeys([evidence.family, *evidence.families])):
            own = evidence if place == 0 else Evidence(evidence.layout, family)
            yield self._decide(
                f"A18{'' if place == 0 else 'abcdefgh'[place]}",
                "fine-tuning teaches classification to a model that is asked as it was trained, without shots (ours)",
                ABOVE_ZERO,
                f"accuracy of {family} without shots minus the most frequent class, the set with the largest lead",
                own.without_demonstrations(),
                _NORMAL,
                about=own.note,
            )

    def formats(self) -> Iterator[ClaimRow]:
        """Section 4.1 and appendix C."""
        evidence = self.evidence
        yield self._decide(
            "A5",
            "fine-tuned models do better in the format of their training than with plain input and output (4.1)",
            ABOVE_ZERO,
            "score of default minus that of io, fine-tuned, mean over sets and checkpoints",
            evidence.default_against_io(),
            _SETS,
        )
        yield self._decide(
            "A6",
            "sensitivity to the format shrinks with pre-training (4.1)",
            ABOVE_ZERO,
            "|default - instruct| of fine-tuned models at the first checkpoint minus that at the last, mean over sets",
            evidence.fall_of_sensitivity(),
            _PAIRS,
        )
        yield self._decide(
            "A7",
            "the prediction method matters less after fine-tuning (appendix C)",
            ABOVE_ZERO,
            "range over three methods, base minus fine-tuned, last checkpoint, mean over sets",
            evidence.spread_of_methods(),
            _PAIRS,
        )

    def domains(self) -> Iterator[ClaimRow]:
        """Section 4.2, and what scoring without labels did to it."""
        evidence = self.evidence
        yield self._decide(
            "A8",
            "fine-tuning on inference helps inference from elsewhere (4.2)",
            ABOVE_ZERO,
            "accuracy, fine-tuned minus base, mean over sets and checkpoints",
            evidence.out_of_domain("nli"),
            _SETS,
        )
        yield self._decide(
            "A9",
            "fine-tuning on paraphrase harms paraphrase from elsewhere (4.2; the original's sets had no labels)",
            BELOW_ZERO,
            "accuracy on labelled data, fine-tuned minus base, mean over sets and checkpoints",
            None if evidence.layout.aggregate.golds_read_as_no else evidence.out_of_domain("paraphrase"),
            _SETS,
        )
        yield self._decide(
            "A10",
            "reading missing labels as 'no' makes fine-tuning on paraphrase look worse than it is (ours)",
            BELOW_ZERO,
            "change with every gold 'no' minus change with the labels, mean over sets and checkpoints",
            evidence.effect_of_missing_golds(),
            _SETS,
        )

    def pretraining(self) -> Iterator[ClaimRow]:
        """Sections 5 and 6: what more pre-training does."""
        evidence, own = self.evidence, self.evidence.groups.in_domain
        yield self._decide(
            "A11",
            "later checkpoints predict held-out text better",
            BELOW_ZERO,
            "held-out loss of the last checkpoint minus that of the first, nats",
            evidence.fall_of_loss(),
            _BATCHES,
            "the checkpoints are published ones: no held-out loss is measured",
        )
        yield self._decide(
            "A12",
            "later checkpoints fine-tune better (6)",
            ABOVE_ZERO,
            "fine-tuned score on the own task, last checkpoint minus first, mean over sets",
            evidence.between_checkpoints("tuned", own),
            _PAIRS,
        )
        yield self._decide(
            "A13",
            "pre-training improves the model in a way that shows only after fine-tuning (6)",
            ABOVE_ZERO,
            "gain of fine-tuning at the last checkpoint minus that at the first, mean over sets",
            evidence.between_checkpoints("difference", own),
            _PAIRS,
        )

    def groups(self) -> Iterator[ClaimRow]:
        """What needs the named benchmarks and the published ladder."""
        evidence = self.evidence
        yield self._large_only(
            "A14",
            "fine-tuning helps most on sets that pre-training alone never solves (6, Table 6)",
            ABOVE_ZERO,
            "gain of sets learned in fine-tuning minus that of sets learned in pre-training, mean over checkpoints",
            evidence.gap_of_groups(),
            "bootstrap over checkpoints, 95 %",
        )
        yield self._large_only(
            "A15",
            "pre-training alone learns to solve some sets from four examples (5, Figure 6a)",
            ABOVE_ZERO,
            "score of base on the sets of Figure 6a, last checkpoint minus first, mean over sets",
            evidence.untuned_between(evidence.groups.improving),
            _PAIRS,
        )
        yield self._large_only(
            "A16",
            "few-shot scores level off after step 342,000 (5)",
            _LEVEL,
            "score of base on the sets of Figure 6a, last checkpoint minus 342000, mean over sets",
            evidence.untuned_between(evidence.groups.improving, "342000"),
            _PAIRS,
        )
        yield self._large_only(
            "A17",
            "the benefit of fine-tuning levels off after about step 424,000 (6)",
            _LEVEL,
            "gain on the sets learned in fine-tuning, last checkpoint minus 424000, mean over sets",
            evidence.between_checkpoints("difference", evidence.groups.learned_in_finetune, "424000"),
            _PAIRS,
        )

    def _decide(
        self,
        id: str,
        claim: str,
        rule: Rule,
        statistic: str,
        found: Found | None,
        interval: str,
        reason: str = "",
        about: str = "",
    ) -> ClaimRow:
        if found is None or math.isnan(found.estimate.value):
            why = f"scale {self.scale}: {reason}" if reason else f"not run at scale {self.scale}"
            return missing(id, claim, rule, statistic, why)
        note = "; ".join(part for part in (about or self.evidence.note, found.note) if part)
        if self.scale == "nano":
            return not_testable(id, claim, rule, statistic, found.estimate, f"a few steps, for tests; {note}")
        return decide(id, claim, rule, statistic, found.estimate, interval, note)

    def _large_only(
        self, id: str, claim: str, rule: Rule, statistic: str, found: Found | None, interval: str
    ) -> ClaimRow:
        if self.scale == "paper":
            return self._decide(id, claim, rule, statistic, found, interval)
        estimate = None if found is None else found.estimate
        return not_testable(
            id, claim, rule, statistic, estimate, f"scale {self.scale}; needs the published checkpoints"
        )
