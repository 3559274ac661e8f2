"""Draw the one sample of tokens on which the features of all models are compared."""

from pathlib import Path

from reprlab.features.settings import SampleSettings
from reprlab.runtime.cli import run_stage


def sample_tokens(*, tokenizer: Path, out: Path, settings: SampleSettings) -> None:
    """Write blocks of equal number from each corpus as Parquet, named by the digest of all of them.

    The tokens that part texts, the end and the start of the tokenizer, are not inner positions.
    """
    from reprlab.features.sample import draw_sample
    from reprlab.text.tokenizer_folder import open_tokenizer

    opened = open_tokenizer(tokenizer)
    separators = [index for index in (opened.eos_token_id, opened.bos_token_id) if index is not None]
    draw_sample(settings, sorted({int(index) for index in separators})).save(out)


if __name__ == "__main__":
    run_stage(sample_tokens)
