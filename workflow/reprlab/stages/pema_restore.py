"""The whole model out of the reduced one that fine-tuning with PEMA kept."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def pema_restore(*, trained: Path, original: Path, tokenizer: Path, name: str, out: Path) -> None:
    """Write the model, with its tokenizer, whose scores `finetune_model` reports; `from_pretrained` opens both.

    Args:
        trained: the metrics of fine-tuning, beside which its kept models lie.
        original: the model that was fine-tuned.
        tokenizer: its folder.
        name: of the kept model.
        out: the folder to write.

    Raises:
        ReprlabError: no such model was kept, or the folders do not belong together.
    """
    from reprlab.models.build import quiet_transformers
    from reprlab.runtime.errors import ReprlabError
    from reprlab.training.pema_artifacts import pema_restore as restore

    reduced = trained.parent / "models" / name
    if not reduced.is_dir():
        raise ReprlabError(f"{reduced}: no such folder; delete {trained} and run again with keep_finetuned=true")
    quiet_transformers()
    restore(reduced, reduced, original, tokenizer, out)


if __name__ == "__main__":
    run_stage(pema_restore)
