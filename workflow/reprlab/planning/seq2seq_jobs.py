"""Jobs on pairs of texts that any paper may ask for: pairs, training, answers, scores."""

from collections.abc import Mapping, Sequence

from reprlab.planning.plan import Job, Plan
from reprlab.structure.seq2seq_settings import GenerationSettings, PairScoring, PairSettings, PairTraining


def add_pairs(plan: Plan, key: str, tables: Sequence[str], tokenizer: str, settings: PairSettings) -> dict[str, str]:
    """Plan the pairs of some tables; `key` is dataset/cell. Returns `out` and `metrics`."""
    inputs: Mapping[str, str | list[str]] = {"tables": list(tables), "tokenizer": tokenizer}
    return plan.add("build_seq2seq", key, Job(inputs, {"settings": settings}))


def add_pair_training(
    plan: Plan,
    key: str,
    pairs: str,
    tokenizer: str,
    init: str,
    settings: PairTraining,
    *,
    moments: str = "",
    keep_moments: bool = False,
) -> dict[str, str]:
    """Plan a training; `key` is model/task/cell. Returns `out`, its ladder, and `metrics`.

    Args:
        moments: ladder of a run with `keep_moments`, with whose moments of Adam it begins.
    """
    inputs = {"pairs": pairs, "tokenizer": tokenizer, "init": init, **({"moments": moments} if moments else {})}
    kept = {"keep_moments": True} if keep_moments else {}
    return plan.add("train_seq2seq", key, Job(inputs, {"settings": settings, **kept}))


def add_answers(
    plan: Plan,
    key: str,
    pairs: str,
    tokenizer: str,
    trained: Mapping[str, str],
    settings: GenerationSettings,
    seen: str,
) -> str:
    """Plan what a trained model answers, and its scores beside a lookup of `seen` pairs; returns the scores' path."""
    inputs = {"pairs": pairs, "tokenizer": tokenizer, "models": trained["out"]}
    found = plan.add("generate_seq2seq", key, Job(inputs, {"settings": settings}))["out"]
    return add_pair_scores(plan, key, {"answers": found, "training": trained["metrics"], "seen": seen}, settings.step)


def add_pair_scores(plan: Plan, key: str, inputs: Mapping[str, str], step: int | None = None) -> str:
    """Plan the scores of answers; returns their path."""
    return plan.add("score_seq2seq", key, Job(inputs, {"settings": PairScoring(step=step)}))["out"]
