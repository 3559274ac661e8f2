"""Groups of pairs that amuro-char's summaries average over."""

# ruff: noqa: RUF012 (pydantic copies mutable defaults)

from typing import Annotated

from pydantic import StringConstraints

from reprlab.config.papers.amuro_char_data import Names
from reprlab.config.settings import Distinct, Settings, paper, upstream

PairName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]+<-[a-z0-9_]+$")]
Pairs = Annotated[list[PairName], Distinct]


def _pairs(train: str, *evals: str) -> list[str]:
    return [f"{name}<-{train}" for name in evals]


class TransferGroups(Settings):
    """Pairs of the mean ratio of change (section 4.3), by direction."""

    class_to_generation: Pairs = [*_pairs("mnli", "xsum", "socialiqa"), *_pairs("paws", "xsum", "socialiqa")]
    """Trained on classification, scored on generation."""

    generation_to_class: Pairs = [
        *_pairs("xsum", "paws", "mnli_matched"),
        *_pairs("socialiqa", "paws", "mnli_matched"),
    ]
    """Trained on generation, scored on classification."""


class DomainGroups(Settings):
    """Pairs of the change out of domain (figures 5 and 15), by task."""

    nli: Pairs = _pairs("mnli", "rte", "gpt3nli")
    """Inference."""

    summary: Pairs = _pairs("xsum", "cnn")
    """Summaries."""

    question_generation: Pairs = _pairs("socialiqa", "tweetqa", "sciq_qg")
    """Questions."""

    paraphrase: Pairs = _pairs("paws", "qqp", "stsb")
    """Paraphrases."""


class LearningGroups(Settings):
    """Pairs of Table 6."""

    learned_in_pretrain: Pairs = _pairs("tulu", "sciq", "hellaswag", "arc_challenge", "arc_easy", "openbookqa")
    """Solved before any fine-tuning."""

    learned_in_finetune: Pairs = [
        *_pairs("mnli", "mnli_matched", "mnli_mismatched"),
        *_pairs("paws", "paws"),
        *_pairs("xsum", "xsum", "xlsum"),
        *_pairs("socialiqa", "socialiqa"),
        *_pairs("tulu", "boolq"),
    ]
    """Solved after fine-tuning only."""

    counted_twice: Names = ["sciq"]
    """Evaluation sets that stand twice in the released list, and so in Table 6."""


class GroupSettings(Settings):
    """Which pairs (evaluation set<-training set) the summaries average over; pairs without data are left out."""

    mrc: Annotated[TransferGroups, upstream("produce_tables.py")] = TransferGroups()
    """Mean ratio of change."""

    ood: Annotated[DomainGroups, paper("figure 5")] = DomainGroups()
    """Change out of domain."""

    table6: Annotated[LearningGroups, upstream("gen_paper_figs.ipynb")] = LearningGroups()
    """Table 6."""
