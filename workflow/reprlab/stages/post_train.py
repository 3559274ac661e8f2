"""Post-train a decoder by low-rank adapters on an objective (MNTP), and merge them into its weights."""

from pathlib import Path

from reprlab.runtime.cli import run_stage
from reprlab.sentences.settings import PostTraining


def post_train(
    *,
    tokens: Path,
    model: Path,
    tokenizer: Path,
    out: Path,
    metrics: Path,
    work: Path,
    settings: PostTraining,
    fingerprint: str,
    save_every: int = 100,
    device: str = "cpu",
) -> None:
    """Write `out`, a model folder with its tokenizer as `from_pretrained` opens it, and `metrics`, losses by step.

    Args:
        tokens: token ids in the objective's format.
        model: folder of the decoder, which is not changed.
        work: folder that survives failure: an unfinished run resumes exactly.

    Raises:
        ReprlabError: unreadable inputs, an adapter fits no layer, or the loss is not a number.
    """
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model, save_model
    from reprlab.runtime.errors import ReprlabError
    from reprlab.runtime.files import atomic_directory, remove_directory
    from reprlab.sentences.early_exit import headless
    from reprlab.sentences.encoder import add_low_rank, merge_low_rank
    from reprlab.sentences.soft_prompts import frozen
    from reprlab.text.token_store import TokenStore
    from reprlab.text.tokenizer_folder import copy_tokenizer
    from reprlab.training.batches import PretrainingBatches
    from reprlab.training.engine import train
    from reprlab.training.fingerprints import run_fingerprint
    from reprlab.training.objective import load_objective, loss_with_tokens

    wanted = settings.training
    files = [tokens, tokenizer / "tokenizer.json", model / "config.json", *model.glob("*.safetensors")]
    identity = run_fingerprint(fingerprint, settings, files)
    objective = load_objective(wanted, tokenizer)
    network = frozen(load_model(model))
    add_low_rank(headless(network), settings.adapter, wanted.engine.seed)
    run = train(
        network,
        PretrainingBatches(TokenStore.open(tokens, "train", packing=wanted.packed_length), objective, wanted),
        loss_with_tokens(objective),
        wanted.engine,
        work=work,
        save_every=save_every,
        fingerprint=identity,
        on_checkpoint=lambda step, trained: None,
        device=device,
    )
    if not run.is_main:
        return
    if run.diverged_at is not None:
        raise ReprlabError(f"{out}: the training diverged at step {run.diverged_at}; set a lower learning rate")
    merge_low_rank(headless(network))
    with atomic_directory(out) as folder:
        save_model(network.cpu(), folder)
        copy_tokenizer(tokenizer, folder)
    write_rows(metrics, run.metrics)
    remove_directory(work)


if __name__ == "__main__":
    run_stage(post_train)
