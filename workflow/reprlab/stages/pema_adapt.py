"""A model cut to the rows that a task's data uses, with that data, for any trainer."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.finetuning_settings import FinetuneSettings


def pema_adapt(*, model: Path, tokenizer: Path, examples: Path, settings: FinetuneSettings, out: Path) -> None:
    """Write the reduced model, the tokens of its rows and the renumbered data (`training.pema_artifacts`).

    Raises:
        ReprlabError: unreadable inputs, or settings without the splits whose tokens count.
    """
    from reprlab.models.build import quiet_transformers
    from reprlab.training.pema_artifacts import pema_adapt as adapt

    quiet_transformers()
    adapt(model, tokenizer, examples, settings, out)


if __name__ == "__main__":
    run_stage(pema_adapt)
