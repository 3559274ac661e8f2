"""Measure the clouds that the tokens of single prompts form, layer by layer."""

from pathlib import Path
from typing import Any

from reprlab.representations.token_clouds import TokenClouds
from reprlab.runtime.cli import run_stage


def measure_token_clouds(
    *, model: Path, tokenizer: Path, prompts: Path, out: Path, settings: TokenClouds, device: str = "cpu"
) -> None:
    """Write `out`, the rows of `token_clouds.cloud_rows` of the prompts as written and with their tokens shuffled.

    Raises:
        ReprlabError: unreadable inputs, no prompt with enough tokens, or a state that is not finite.
    """
    import torch

    from reprlab.artifacts.tables import read_parquet
    from reprlab.artifacts.tsv import write_rows
    from reprlab.models.build import load_model
    from reprlab.representations.token_clouds import cloud_rows, clouds
    from reprlab.representations.tokens import encode_texts
    from reprlab.text.encoding import surrounding_ids
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.processes import choose_device

    reader = open_tokenizer(tokenizer)
    encoded = encode_texts(reader, read_parquet(prompts)["prompt"].to_pylist())
    before, _ = surrounding_ids(reader)
    network: Any = load_model(model)
    network.to(choose_device(device), getattr(torch, settings.dtype))
    found = clouds(network, encoded, settings, fixed=len(before))
    write_rows(out, [row for tokens, measured in found.items() for row in cloud_rows(tokens, measured)])


if __name__ == "__main__":
    run_stage(measure_token_clouds)
