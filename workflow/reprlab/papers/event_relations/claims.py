"""Claims of event relations: what is measured, over which units, and the rule, written before the numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reprlab.results.claims import Claim
from reprlab.results.contrasts import Paired, sum_over_seeds
from reprlab.results.frame import Choice, Frame
from reprlab.results.twins import Twin
from reprlab.statistics import ABOVE_ZERO, BELOW_ZERO, Estimate

_WRAPPED = {"dataset": "esc", "encoding": "wrapped", "chains": "no"}
_RECALL = {**_WRAPPED, "classifier": "none", "metric": "retrieval_recall", "split": "test", "part": "main"}
_F1 = {**_WRAPPED, "metric": "f1", "subset": "related", "split": "test", "part": "main"}
_BOTH = ("roberta", "t5")
_LARGE: dict[str, Any] = {
    "only_at": ("paper", "small"),
    "because": "specification, section 6: differences between classifiers and encodings are not visible at this scale",
}
_EVERYWHERE: dict[str, Any] = {"only_at": (), "because": ""}


def _hardness(frame: Frame) -> Estimate | str:
    return sum_over_seeds([frame.select()], [1], "document") or frame.reason()


def _density(frame: Frame) -> Estimate | str:
    sides = [frame.select(metric=name) for name in ("positive_share", "density")]
    return sum_over_seeds(sides, (1, -1), "document") or frame.reason()


@dataclass(frozen=True)
class _Ablation(Paired):
    """A pair of conditions of the classifiers that have both: Tables 3 and 5 are made with one of them."""

    def __call__(self, frame: Frame) -> Estimate | str:
        sides = [set(frame.select(**where)["classifier"]) for where in self.selections()]
        shared = tuple(sorted(set.intersection(*sides)))
        return super().__call__(frame.narrowed({"classifier": shared}) if shared else frame)


def _f1(
    id: str, claim: str, statistic: str, first: Mapping[str, Choice], second: Mapping[str, Choice], **where: Choice
) -> Claim:
    kind = _Ablation if where.get("classifier") == _BOTH else Paired
    find = kind({**_F1, **where}, first, second)
    return Claim(id, claim, statistic, ABOVE_ZERO, find, **_LARGE)


def _recall(id: str, claim: str, statistic: str, first: str, second: str) -> Claim:
    find = Paired(_RECALL, {"retriever": first}, {"retriever": second})
    return Claim(id, claim, statistic, ABOVE_ZERO, find)


_TUNED = {**_RECALL, "retriever": "sbert_ft"}
_SWEEP: dict[str, Choice] = {**_F1, "retriever": "sbert_ft", "classifier": _BOTH, "part": "sweep"}
CLAIMS = (
    _recall("E1", "A retriever finds more related pairs than chance",
            "difference of recall at k = 5 on test documents, points", "sbert", "random"),
    _recall("E2", "Fine-tuning the S-BERT retriever finds more of them",
            "difference of recall at k = 5 on test documents, points", "sbert_ft", "sbert"),
    _recall("E3", "Fine-tuning the RoBERTa retriever finds more of them",
            "difference of recall at k = 5 on test documents, points", "roberta_ft", "roberta"),
    _recall("E4", "The S-BERT retriever finds more than the RoBERTa retriever",
            "difference of recall at k = 5 on test documents, points", "sbert_ft", "roberta_ft"),
    Claim("E5", "Candidates are related more often than pairs are",
          "share of related pairs among candidates less that among all pairs, points", ABOVE_ZERO, _density,
          {**_TUNED, "metric": ("positive_share", "density")}),
    # By the retriever's own scores they are, also where its vectors are drawn at random: it chose them by these.
    Claim("E6", "Retrieved negatives are harder: their sentences have more words in common than unrelated ones have",
          "words in common of hard negatives less those of all unrelated pairs, points", ABOVE_ZERO, _hardness,
          {**_TUNED, "metric": "hardness"}),
    # The classifier is a published encoder at every scale, and its intervals over documents are narrow at mini too.
    replace(_f1("E7", "Retrieval improves the RoBERTa classifier over all pairs",
                "difference of micro F1 over the relations, points", {"retriever": "sbert_ft"}, {"retriever": "none"},
                classifier="roberta"), **_EVERYWHERE),
    replace(_f1("E8", "Hard negatives train better than random ones",
                "difference of micro F1 over the relations, points", {"retriever": "sbert_ft"},
                {"retriever": "random"}, classifier="roberta"), **_EVERYWHERE),
    # Elsewhere a T5 that was pre-trained here for a minute stands beside a published encoder.
    replace(_f1("E9", "T5 classifies better than RoBERTa", "difference of micro F1 over the relations, points",
                {"classifier": "t5"}, {"classifier": "roberta"}, retriever="sbert_ft"), only_at=("paper",)),
    Claim("E10", "More partners cost precision (k = 10 against 3)",
          "difference of micro precision over the relations, points", BELOW_ZERO,
          Paired({**_SWEEP, "metric": "precision"}, {"k": 10}, {"k": 3})),
    _f1("E11", "The wrapped sentence is better than the trigger alone",
        "difference of micro F1 over the relations, points", {"encoding": "wrapped"}, {"encoding": "trigger"},
        retriever="sbert_ft", classifier=_BOTH),
    # Of the Event StoryLine Corpus they give relations away without a text: see the retriever `chains`.
    _f1("E12", "Gold coreference chains help (the corpus annotates them of related mentions alone)",
        "difference of micro F1 over the relations, points", {"chains": "yes"}, {"chains": "no"},
        retriever="sbert_ft", classifier=_BOTH),
    Claim("E13", "More partners find more relations (k = 10 against 3)",
          "difference of micro recall over the relations, points", ABOVE_ZERO,
          Paired({**_SWEEP, "metric": "recall"}, {"k": 10}, {"k": 3})),
    _f1("E14", "The wrapped sentence is better than its dependency tree",
        "difference of micro F1 over the relations, points", {"encoding": "wrapped"}, {"encoding": "graph"},
        retriever="sbert_ft", classifier=_BOTH),
)  # fmt: skip
TWINS = (
    Twin(("E1",), "the random order", learned={"retriever": "sbert"}, rows={"retriever": "random"}),
    Twin(("E2",), "no update: the encoder as it was", learned={"retriever": "sbert_ft"}, rows={"retriever": "sbert"}),
    Twin(("E3",), "no update: the encoder as it was", learned={"retriever": "roberta_ft"},
         rows={"retriever": "roberta"}),
    Twin(("E8",), "random partners", learned={"retriever": "sbert_ft"}, rows={"retriever": "random"}),
    Twin(("E5", "E6"), why_not="random partners have the share and the words of all pairs, which are the other side"),
    Twin(("E4", "E7", "E9", "E10", "E11", "E12", "E13", "E14"),
         why_not="two trainings from one start: the same untrained model would stand on both sides"),
)  # fmt: skip
