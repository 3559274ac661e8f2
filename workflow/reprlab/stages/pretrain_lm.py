"""Pre-train a language model and keep a ladder of checkpoints."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.training.settings import PretrainSettings


def pretrain_lm(
    *,
    tokens: Path,
    tokenizer: Path,
    init: Path,
    out: Path,
    metrics: Path,
    throughput: Path,
    work: Path,
    settings: PretrainSettings,
    fingerprint: str,
    replay: Path | None = None,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Train from `init` and write the ladder, the metrics (the same each time) and the throughput (not).

    `replay` has the tokens of the other text where `settings.replay` asks for some.

    Resume points lie in `work` until the outputs are in place: after a kill, the same command goes on and ends with the
    same bytes. Several processes are started by `torchrun` or `accelerate launch` with the same options.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model
    from reprlab.models.selective_scan import install_scans
    from reprlab.runtime.files import remove_directory
    from reprlab.text.token_store import TokenStore
    from reprlab.text.tokenizer_folder import vocabulary_file
    from reprlab.training.batches import PretrainingBatches, replay_of
    from reprlab.training.engine import train
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.ladder import find_step, keep_step, publish_ladder
    from reprlab.training.objective import load_objective, loss_with_tokens
    from reprlab.training.processes import choose_device

    source = init if settings.init_step is None else find_step(init, settings.init_step)
    objective = load_objective(settings, tokenizer)
    identity = run_fingerprint(
        fingerprint,
        settings,
        [
            *(path for path in (tokens, replay) if path is not None),
            *(vocabulary_file(tokenizer), source / "config.json", *source.glob("*.safetensors")),
        ],
    )
    store = TokenStore.open(tokens, "train", packing=settings.packed_length)
    batches = PretrainingBatches(
        store,
        objective,
        settings,
        replay=replay_of(settings, replay, tokenizer),
        ahead=choose_device(device).type == "cuda",
    )
    # The ladder of other settings, left by a killed run, can never be taken for this one's.
    ladder = work / f"ladder-{identity[:16]}"
    model = load_model(source, settings.dropout)
    if model.config.model_type.startswith("mamba"):
        install_scans(choose_device(device))
    run = train(
        model,
        batches,
        loss_with_tokens(objective),
        settings.engine,
        work=work,
        save_every=save_every,
        fingerprint=identity,
        on_checkpoint=lambda step, model: keep_step(model, ladder, step, tokenizer),
        device=device,
    )
    if not run.is_main:
        return
    write_rows(metrics, run.metrics)
    write_rows(throughput, run.throughput)
    publish_ladder(ladder, out, run.diverged_at)
    remove_directory(work)


if __name__ == "__main__":
    run_stage(pretrain_lm)
