"""Stage `preview_corruption`: corrupted examples as text, for reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprlab.objectives.settings import PreviewSettings
from reprlab.runtime.cli import run_stage

if TYPE_CHECKING:
    import numpy as np


def preview_corruption(*, tokens: Path, tokenizer: Path, out: Path, settings: PreviewSettings) -> None:
    """Write a TSV with one row for each example and state: example, shuffled, original, encoder_input, labels.

    DEPTH shows each example unshuffled and shuffled, under the same span mask.
    """
    import numpy as np
    import pandas
    from pydantic import ValidationError

    from reprlab.artifacts.tables import write_tsv
    from reprlab.plugins import load_plugin
    from reprlab.runtime.errors import ReprlabError
    from reprlab.text.token_store import TokenStore
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.text.vocabulary import Vocabulary

    plugin = load_plugin("objectives", settings.objective)
    try:
        chosen = plugin.Settings.model_validate_json(json.dumps(settings.objective_settings))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ReprlabError(f"objective_settings.{where}: {first['msg']}") from None
    objective = plugin.Objective(chosen, Vocabulary.load(tokenizer), settings.input_length, settings.target_length)
    store = TokenStore.open(tokens, settings.split)
    indices = np.arange(min(settings.examples, len(store)))
    ids, types, lengths = store.batch(indices, settings.input_length)
    names = open_tokenizer(tokenizer)
    rows = []
    states = {"t5": (False,), "depth": (False, True)}[objective.token_format]
    for shuffled in states:
        rng = np.random.Generator(np.random.Philox(key=settings.seed))
        batch = objective.collate(ids, types, lengths, rng, shuffled=shuffled)
        for index in indices:
            rows.append(
                {
                    "example": int(index),
                    "shuffled": "true" if shuffled else "false",
                    "original": _text(names, ids[index]),
                    "encoder_input": _text(names, batch["encoder_ids"][index]),
                    "labels": _text(names, batch["labels"][index]),
                }
            )
    write_tsv(out, pandas.DataFrame(rows).sort_values(["example", "shuffled"], kind="stable"))


def _text(tokenizer: Any, ids: np.ndarray) -> str:
    text = tokenizer.decode([int(i) for i in ids if i > 0], skip_special_tokens=False)
    return " ".join(text.split())


if __name__ == "__main__":
    run_stage(preview_corruption)
