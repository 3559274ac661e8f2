"""Save a trained sentence encoder as a folder that sentence-transformers opens."""

from pathlib import Path

from reprlab.runtime.cli import run_stage


def export_encoder(*, model: Path, tokenizer: Path, encoders: Path, out: Path, seed: int) -> None:
    """Write `out`: the decoder cut and with what was trained in it, its tokenizer, and how texts become vectors.

    Args:
        model: folder of the decoder that the encoder was trained on.
        encoders: what was trained, by seed.

    Raises:
        ReprlabError: unreadable inputs.
    """
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.runtime.files import atomic_directory
    from reprlab.sentences.encoder import load_encoder, read_settings
    from reprlab.sentences.export import export_encoder as write_encoder
    from reprlab.sentences.export import export_plain, needs_our_module
    from reprlab.text.model_tokenizers import load_tokenizer
    from reprlab.text.tokenizer_folder import copy_tokenizer

    quiet_transformers()
    folder = encoders / f"seed-{seed}"
    settings = read_settings(folder)
    network = load_model(model)
    encoder, reader = load_encoder(network, folder), load_tokenizer(tokenizer)
    with atomic_directory(out) as target:
        if not needs_our_module(settings, reader):
            export_plain(encoder, network, reader, settings, target)
            return
        write_encoder(encoder, network, settings, target)
        copy_tokenizer(tokenizer, target)


if __name__ == "__main__":
    run_stage(export_encoder)
