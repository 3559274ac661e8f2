"""Fine-tune a causal language model by low-rank adapters and keep a ladder of them."""

from pathlib import Path

from reprlab.representations.settings import AdapterSettings
from reprlab.runtime.cli import run_stage


def train_adapter(
    *,
    model: Path,
    tokenizer: Path,
    prompts: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: AdapterSettings,
    fingerprint: str,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Train on the texts of `prompts` (each item with its label) and write the adapters of the ladder's steps.

    Resume points lie in `work` until the outputs are in place: after a kill, the same command goes on and ends with the
    same bytes.
    """
    from reprlab.artifacts.tables import read_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model
    from reprlab.representations.adapters import TextBatches, add_adapter, language_model_loss, save_adapter
    from reprlab.representations.tokens import encode_texts
    from reprlab.runtime.files import remove_directory
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.engine import train
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.ladder import publish_ladder

    identity = run_fingerprint(fingerprint, settings, [prompts, model / "config.json", *model.glob("*.safetensors")])
    texts = encode_texts(open_tokenizer(tokenizer), read_parquet(prompts, ["text"]).column("text").to_pylist())
    ladder = work / f"ladder-{identity[:16]}"
    run = train(
        add_adapter(load_model(model), settings),
        TextBatches(texts, settings),
        language_model_loss,
        settings.engine,
        work=work,
        save_every=save_every,
        fingerprint=identity,
        on_checkpoint=lambda step, trained: save_adapter(trained, ladder, step, model, tokenizer),
        device=device,
    )
    if not run.is_main:
        return
    write_rows(metrics, run.metrics)
    publish_ladder(ladder, out, run.diverged_at)
    remove_directory(work)


if __name__ == "__main__":
    run_stage(train_adapter)
