"""Made-up tracks, annotations, and a small language model with a tokenizer of its own."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from reprlab.artifacts.tables import write_parquet
from reprlab.inference.chat_settings import ChatSettings
from reprlab.models.build import build_from_config, save_model
from reprlab.music import template
from reprlab.music.annotation import STEPS, place
from reprlab.music.hearing import described
from reprlab.music.settings import RATE, AnnotationSettings
from reprlab.music.training import write_states
from reprlab.registry.models import ModelEntry

TEMPLATE = AnnotationSettings(backend="template", chat=ChatSettings(model="m", max_tokens=50), frame_seconds=2.0)


def tone(seconds: float = 4.0, pitch: float = 440.0, loudness: float = 0.3) -> np.ndarray:
    times = np.arange(int(seconds * RATE)) / RATE
    return (loudness * np.sin(2 * np.pi * pitch * times)).astype(np.float32)


def heard(bpm: float = 96.0, key: int = 0) -> dict[str, Any]:
    return described(
        {
            "tempo": [[bpm, 0.7], [2 * bpm, 0.3]],
            "key": [float(place == key) for place in range(24)],
            "downbeats": [[0.0, 1.0], [0.6, 2.0], [1.2, 3.0], [1.8, 1.0]],
            "chords": [[0.0, 1.0, "A:maj"], [1.0, 1.4, "D:maj"], [1.4, 4.0, "A:maj"]],
        }
    )


def track(name: str = "one", split: str = "train", **about: Any) -> dict[str, Any]:
    own = {
        "track": name,
        "piece": name,
        "kind": "rendered",
        "split": split,
        "genre": "chorale",
        "lyrics": "",
        "video": "",
    }
    return {**own, "heard": heard(), "loudness": -20.0, "levels": [-20.0, -10.0], "frame_seconds": 2.0, **about}


def annotated(name: str = "one", split: str = "train") -> dict[str, Any]:
    found = track(name, split)
    for step in STEPS:
        place(found, step, template.write(step, found, 0))
    return found


def make_language_model(folder: Path) -> Path:
    """A Llama of two layers whose byte-level tokenizer has an end token that texts may spell."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    texts = [f"{one['description']} {one['caption']}" for one in map(annotated, map(str, range(40)))]
    own = Tokenizer(models.BPE())
    own.pre_tokenizer, own.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    own.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=600, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False),
    )
    entry = ModelEntry(
        architecture="llama",
        config={
            "vocab_size": own.get_vocab_size(), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 512,
        },
        source="ours", tie_output=True, origin={"kind": "scratch"},
    )  # fmt: skip
    save_model(build_from_config(entry, seed=0), folder)
    PreTrainedTokenizerFast(tokenizer_object=own, eos_token="<|end|>").save_pretrained(folder)
    return folder


def write_example_files(folder: Path, tracks: list[dict[str, Any]], width: int = 6, seed: int = 0) -> tuple[Path, Path]:
    """Annotations and states of tracks."""
    names = ("track", "split", "genre", "type", "lyrics_text", "caption", "description")
    rows = [{name: one[name] for name in names} for one in tracks]
    write_parquet(folder / "annotations.parquet", pyarrow.Table.from_pylist(rows))
    states = np.random.default_rng(seed).normal(size=(len(tracks), 3, width)).astype(np.float32)
    write_states(folder / "states.parquet", tracks, states)
    return folder / "annotations.parquet", folder / "states.parquet"
