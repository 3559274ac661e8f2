"""Jobs around sentence encoders that any paper may ask for: training, and the folder for sentence-transformers."""

from collections.abc import Mapping

from reprlab.papers.plan import Plan
from reprlab.papers.warm_starts import Start
from reprlab.sentences.settings import ContrastiveTraining


def add_encoder(
    plan: Plan, key: str, start: Start, inputs: Mapping[str, str | list[str]], settings: ContrastiveTraining
) -> dict[str, str]:
    """Plan an encoder with all its seeds; `key` is model/cell. Returns its outputs by name.

    The export of each seed is planned beside it and is no target: it is made where somebody asks for it.
    """
    trained = plan.add("train_encoder", key, start.job(inputs, {"settings": settings}))
    exported = {"encoders": trained["out"], "tokenizer": start.tokenizer}
    for seed in settings.seeds:
        plan.add("export_encoder", f"{key}_seed_{seed}", start.job(exported, {"seed": seed}))
    return trained
