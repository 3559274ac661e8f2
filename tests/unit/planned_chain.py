"""Planned jobs run once in little: the stages of a plan on cut models, a few made-up rows and two updates.

A job's inputs are made by the jobs that the plan has for them, so that a model goes through the stages in the order of
the published run. Cut are widths, layers, rows, steps and batches; every other setting is the planned one.
"""

import importlib
import inspect
import io
import itertools
import json
import random
import re
import shutil
import typing
import wave
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from event_samples import event_heads
from event_samples import row as event_row
from music_samples import tone
from pydantic import BaseModel
from reprlab.artifacts.tables import write_parquet
from reprlab.concepts.files import write_concepts
from reprlab.coreference.rows import chain_row
from reprlab.data.schema import columns_of, schema_of, write_rows
from reprlab.events.documents import load_events
from reprlab.events.parses import write_parses
from reprlab.models.build import build_from_config, save_model
from reprlab.music.tracks import Track, write_tracks
from reprlab.music.training import write_states
from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.registry.models import ModelEntry
from reprlab.stages.build_model import build_model
from reprlab.text.byte_pairs import train_byte_pairs
from reprlab.text.tokenizers import save_tokenizer
from reprlab.text.vocabulary import Vocabulary
from text_fixtures import prose
from training_samples import write_tokens

# One layer, and narrow. The class, its switches, the positions and the ids of its special tokens stay.
NARROW = {
    **dict.fromkeys(("hidden_size", "dim", "n_embd", "d_model", "pooler_hidden_size", "embedding_size"), 32),
    **dict.fromkeys(("intermediate_size", "hidden_dim", "d_ff", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim"), 48),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "n_layer", "num_layers", "num_decoder_layers"), 1),
    **dict.fromkeys(("encoder_layers", "decoder_layers"), 1),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "num_heads", "num_key_value_heads"), 2),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2),
    # Heads of Mamba-2 fill its inner width, twice the outer one; OPT-350M has narrower embeddings.
    "d_kv": 16,
    "head_dim": 32,
    "word_embed_proj_dim": 24,
}
# Settings by their name, at whatever depth; lists that name steps of a ladder are cut to the one that there is.
STEPS = 2
FEW = {
    "steps": STEPS, "step": STEPS, "epochs": 1, "batch_size": 2, "accumulation": 1, "log_every": 1, "warmup_steps": 0,
    "warmup_ratio": 0.0, "horizon_steps": None, "init_step": STEPS, "batches": 1, "resamples": 2, "bootstrap": 2,
    "train_items": 8, "validation_items": 2, "rows": 2, "share": 1.0, "held_out": 2, "shots": 1, "demonstrations": 1,
    "max_new_tokens": 2, "free_tokens": 2, "rank": 2, "examples": 2, "batch": 2, "repeats": 2,
    "operators": 2, "training_length": 16, "negatives": 3, "layers": 1, "evaluate_every": STEPS, "draws": 2,
    "per_label": 2, "blocks": 2, "features": 64, "minutes": 0.2,
}  # fmt: skip
# Stages whose outputs others of them read; what the rest of the plan makes is made up.
LINKS = (
    "build_prompts", "build_completions", "pretrain_lm", "finetune_completions", "train_adapter",
    "train_retriever", "rank_partners", "train_pair_classifier", "retrieve_passages", "train_reranker",
    "tokenize_triples", "train_encoder", "build_seq2seq", "train_seq2seq", "generate_seq2seq", "mix_corpora",
    "merge_models", "train_autoencoder", "evaluate_autoencoder", "sample_tokens", "encode_features", "compare_features",
    "build_coreference", "train_coreference", "probe_coreference", "train_describer", "describe_tracks",
    "train_prefix", "describe_by_prefix", "train_recogniser", "tokenize_blocks", "mark_concepts",
)  # fmt: skip
PIECES = 1000


def settings_of(job: Job) -> dict[str, Any]:
    """The settings of a job as plain values."""
    return {name: _plain(value) for name, value in job.settings.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, str) and value.startswith("{"):
        return json.loads(value)
    return value


def narrow_entry(entry: ModelEntry) -> ModelEntry:
    """The entry cut to one narrow layer, with ids that the little tokenizer has."""
    config = {name: NARROW.get(name, value) for name, value in entry.config.items()}
    if "eos_token_id" in config:
        config["eos_token_id"] = 1
    if config.get("pad_token_id", 0) > 1:
        config["pad_token_id"] = 0
    return entry.model_copy(update={"config": config})


def cut(value: Any, name: str = "") -> Any:
    """Settings with few rows, steps and resamples."""
    if name == "chat" and isinstance(value, Mapping):
        # No endpoint is asked.
        return None
    if isinstance(value, Mapping):
        # Of little text no long rows can be packed.
        short = {"input_length": 16, "target_length": 16} if value.get("packing") else {}
        return {**{key: cut(part, key) for key, part in value.items()}, **short}
    if name in ("steps", "ladder") and isinstance(value, list):
        # A ladder of step 0 alone is of what nothing has trained.
        return [STEPS] if any(value) else value
    if name in ("learning_rates", "seeds", "sizes", "training_batches", "lengths"):
        return value[:1]
    if name == "layers" and isinstance(value, list):
        return [min(layer, 1) for layer in value]
    if name == "cells":
        return _one_cell_each(value)
    if isinstance(value, list):
        return [cut(part) for part in value]
    if isinstance(value, str):
        return re.sub(r"step-(?!0{8})\d{8}", f"step-{STEPS:08d}", value)
    # Null means that another setting decides, and 0 demonstrations are another kind of prompt than one.
    return {**FEW, **NARROW}.get(name, value) if value else value


def _one_cell_each(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One cell for each method with and without solved examples, on all models of the job."""
    found = {(cell["method"], cell["shots"] > 0): cell for cell in reversed(cells)}
    return [{**cell, "shots": min(cell["shots"], 1), "names": []} for cell in found.values()]


class Chain:
    """Runs jobs of `plan` in the current folder, each at most once. `keep` keeps the models that are fine-tuned."""

    def __init__(self, plan: Plan, *, keep: bool = False) -> None:
        self.plan, self.keep, self.done = plan, keep, set[Path]()
        self._architectures: dict[tuple[str, str], set[str]] = {}

    def run(self, stage: str, key: str) -> Path:
        """Run a job after those that make its inputs; returns the folder of its outputs."""
        folder = Path("made", stage, key)
        if folder in self.done:
            return folder
        job = self.plan.jobs[stage][key]
        given = {**job.inputs, **cut(settings_of(job))}
        if stage == "finetune_model":
            given["settings"]["keep"] |= self.keep
        for path in self._paths(given):
            self._make(path)
        function = getattr(importlib.import_module(f"reprlab.stages.{stage}"), stage)
        folder.mkdir(parents=True, exist_ok=True)
        function(**self._arguments(function, stage, key, given, folder))
        self.done.add(folder)
        return folder

    def architectures(self, stage: str, key: str) -> set[str]:
        """Architectures of the models that a job starts from or counts."""
        if (stage, key) not in self._architectures:
            self._architectures[stage, key] = self._found(stage, key)
        return self._architectures[stage, key]

    def _found(self, stage: str, key: str) -> set[str]:
        job = self.plan.jobs[stage][key]
        counted = settings_of(job).get("models")
        entries = counted.get("entries", {}) if isinstance(counted, dict) else {}
        found = {entry["architecture"] for entry in entries.values()}
        for path in self._paths({**job.inputs, **settings_of(job)}):
            area, name = path.removeprefix(f"{paths.SHARED}/").split("/", 1)
            if area == "models":
                found.add(self._entry(name).architecture)
            elif maker := self._maker(path):
                found |= self.architectures(*maker)
        return found

    def _paths(self, given: Any) -> list[str]:
        """Paths of shared files that settings and inputs name."""
        if isinstance(given, Mapping):
            return [path for part in given.values() for path in self._paths(part)]
        if isinstance(given, list):
            return [path for part in given for path in self._paths(part)]
        return [str(given)] if isinstance(given, str | Path) and str(given).startswith(paths.SHARED) else []

    def _maker(self, path: str) -> tuple[str, str] | None:
        """Stage and key of the job whose output holds `path`, or none of LINKS."""
        places = reversed([*itertools.accumulate(path.split("/"), "{}/{}".format)])
        return next((self._made_by[place] for place in places if place in self._made_by), None)

    @cached_property
    def _made_by(self) -> dict[str, tuple[str, str]]:
        return {
            path: (stage, key)
            for stage in LINKS
            for key in self.plan.jobs.get(stage, {})
            for path in paths.outputs(stage, key).values()
        }

    def _entry(self, model: str) -> ModelEntry:
        return ModelEntry.model_validate(settings_of(self.plan.jobs["build_model"][model])["entry"])

    def _make(self, path: str) -> None:
        area, name = path.removeprefix(f"{paths.SHARED}/").split("/", 1)
        if maker := self._maker(path):
            self.run(*maker)
        elif not Path(path).exists():
            getattr(self, f"_make_{area}")(Path(path), name)

    def _arguments(self, function: Any, stage: str, key: str, given: dict[str, Any], folder: Path) -> dict[str, Any]:
        """Arguments by the names of the function: what the plan gives, and a path for each output."""
        hints, found = typing.get_type_hints(function), {"fingerprint": "code"}
        outputs = paths.outputs(stage, key) if stage in LINKS else {}
        for name, parameter in inspect.signature(function).parameters.items():
            if given.get(name) not in (None, "", []):
                found[name] = _as_hinted(hints[name], given[name])
            elif name not in found and parameter.default is inspect.Parameter.empty:
                found[name] = Path(outputs.get(name, folder / name))
                found[name].parent.mkdir(parents=True, exist_ok=True)
        return {name: value for name, value in found.items() if name in hints}

    def _make_models(self, path: Path, name: str) -> None:
        entry, (given,) = self._entry(name), self._paths(self.plan.jobs["build_model"][name].inputs) or [""]
        if entry.origin.kind == "scratch":
            if given:
                self._make(given)
            build_model(entry=narrow_entry(entry), out=path, tokenizer=Path(given) if given else None)
            return
        # What the hub holds: weights, and the tokenizer that comes with them.
        save_model(build_from_config(narrow_entry(entry), self.vocabulary.padded_size, seed=0), path)
        self._save_tokenizer(path, int(narrow_entry(entry).config.get("pad_token_id", 0)))

    def _make_finetuned(self, path: Path, name: str) -> None:
        key = "/".join(name.split("/")[:3])
        made = self.run("finetune_model", key)
        if not (target := Path(paths.SHARED, "finetuned", key)).exists():
            shutil.copytree(made, target)
            (target / "out_metrics").rename(target / "metrics.tsv")

    def _make_tokenizers(self, path: Path, name: str) -> None:
        self._save_tokenizer(path, 0)

    def _make_model_tokenizers(self, path: Path, name: str) -> None:
        alone = self.plan.jobs["extract_tokenizer"].get(name)
        entry = self._entry(name) if alone is None else ModelEntry.model_validate(settings_of(alone)["entry"])
        self._save_tokenizer(path, int(entry.config.get("pad_token_id", 0)))

    def _make_tokens(self, path: Path, name: str) -> None:
        form = settings_of(self.plan.jobs["tokenize_corpus"][name.removesuffix(".parquet")])["settings"]["format"]
        path.parent.mkdir(parents=True, exist_ok=True)
        made, _ = write_tokens(path.parent / name.removesuffix(".parquet"), form, rows=20, pieces=PIECES)
        made.rename(path)

    def _make_corpora(self, path: Path, name: str) -> None:
        """Documents, or excerpts of them in sentences; every fourth one is held out."""
        texts = [(f"{name}-{n}", ("train", "train", "validation", "test")[n % 4], text) for n, text in
                 enumerate(prose(40))]  # fmt: skip
        if path.name == "documents.parquet":
            rows = [{"id": one, "text": text, "source": "made up", "split": split} for one, split, text in texts]
            write_rows(path, rows, "documents", {"name": name, "title": name})
            return
        sentences = [(one, split, text.replace("\n", " ").split(". ")[:3]) for one, split, text in texts]
        about = {"passage": 0, "source": "made up"}
        rows = [{"document": one, "split": split, "sentences": cut, **about} for one, split, cut in sentences]
        path.parent.mkdir(parents=True, exist_ok=True)
        schema = pyarrow.schema([("passage", pyarrow.int32())])
        table = pyarrow.Table.from_pylist(rows)
        table = table.set_column(
            table.schema.get_field_index("passage"), schema.field("passage"), table["passage"].cast("int32")
        )
        about_corpus = {"reprlab": json.dumps({"name": name, "title": name})}
        write_parquet(path, table.replace_schema_metadata(about_corpus))

    def _make_curricula(self, path: Path, name: str) -> None:
        write_concepts(path, sorted({word.strip(".,").lower() for word in " ".join(prose(40)).split()})[:40])

    def _make_tracks(self, path: Path, name: str) -> None:
        write_tracks(
            path, [(Track(f"{name}_{n}", name, "own", "rock", tone(1.0, 220.0 * (n + 1))), "train") for n in (0, 1)]
        )

    def _make_annotations(self, path: Path, name: str) -> None:
        # Each shard has a track of its own; the first is tested on.
        about = {
            "type": "Animation",
            "caption": "A clip.",
            "genre": "rock",
            "lyrics_text": "Words.",
            "description": "# Overview",
        }
        shard = path.stem.partition("of")[0]
        row = {
            "track": f"{path.parent.name}.parquet_{shard}",
            "split": "train" if int(shard) else "test",
            **about,
            "frames": "[]",
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        write_parquet(path, pyarrow.Table.from_pylist([row]))

    def _make_audio_states(self, path: Path, name: str) -> None:
        rows = [{"track": f"{name}_{number}"} for number in range(64)]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_states(path, rows, np.zeros((64, 3, 4), dtype=np.float32))

    def _make_tasks(self, path: Path, name: str) -> None:
        if path.name == "parses.parquet":
            self._make(str(path.with_name("examples.parquet")))
            documents, _ = load_events(path.with_name("examples.parquet"))
            # The middle one of three words is the head of each sentence.
            write_parses(path, documents, [event_heads(one) for one in documents], "by hand")
            return
        entry = settings_of(self.plan.jobs["build_examples"][name.split("/")[0]])["entry"]
        if entry["kind"] == "events":
            made = [
                {**event_row(f"{split}{n}", str(n), 5, entry["labels"]), "split": split}
                for split, count in (("train", 10), ("validation", 1))
                for n in range(count)
            ]
            write_rows(path, made, "events", {"name": entry["name"], "title": entry["name"]})
            return
        if entry["kind"] == "coreference":
            sentences = [["Emma", "saw", "the", "house", "."], ["It", "fell", "before", "Emma", "came", "."]]
            chains = [[(0, 0), (8, 8)], [(2, 3), (5, 5)]]
            made = [
                {**chain_row(f"nw/{split}{n}", str(n), sentences, ["-"] * 11, chains, "a made-up text"), "split": split}
                for split, count in (("train", 4), ("validation", 2), ("test", 2))
                for n in range(count)
            ]
            write_rows(path, made, "coreference", {"name": entry["name"], "title": entry["name"]})
            return
        files = entry["options"].get("files", [])
        subsets = sorted({file.get("subset", "") for file in files if isinstance(file, dict)} or {""})
        rows = [
            _row(entry, number, split, subset)
            for split, count in (("train", 24), ("validation", 8), ("test", 8))
            for subset in subsets
            for number in range(count)
        ]
        about = {"name": entry["name"], "title": entry["name"], "kind": entry["kind"], "labels": entry["labels"]}
        table = pyarrow.Table.from_pylist(rows, schema=schema_of(entry["kind"]))
        write_parquet(path, table.replace_schema_metadata({"reprlab": json.dumps(about)}))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(PIECES)

    @cached_property
    def _tokenizer(self) -> Any:
        # Words of labels become pieces of their own, as they are in the published vocabularies.
        labels = {label for job in self.plan.jobs["build_examples"].values() for label in _labels(job)}
        words = sorted(labels | {"yes", "no", "neutral", "entailment", "contradiction"})
        return train_byte_pairs([f"{word} {word}" for word in words for _ in range(50)] + prose(50), self.vocabulary)

    def _save_tokenizer(self, folder: Path, pad: int) -> None:
        tokenizer = self._tokenizer
        tokenizer.pad_token, tokenizer.eos_token = tokenizer.convert_ids_to_tokens([pad, 1 - pad])
        # Coreference puts BERT's own tokens around its segments.
        tokenizer.cls_token = tokenizer.sep_token = tokenizer.eos_token
        tokenizer.unk_token = tokenizer.convert_ids_to_tokens(2)
        save_tokenizer(tokenizer, self.vocabulary, folder)


def _labels(job: Job) -> list[str]:
    return list(settings_of(job)["entry"]["labels"])


def _as_hinted(hint: Any, value: Any) -> Any:
    members = [member for member in typing.get_args(hint) if member is not type(None)] or [hint]
    hint = hint if typing.get_origin(hint) is list else members[0]
    if inspect.isclass(hint) and issubclass(hint, BaseModel):
        return hint.model_validate(value)
    if hint == list[Path]:
        return [Path(part) for part in value]
    return Path(value) if hint is Path else value


def _noise(seconds: int) -> bytes:
    """A WAV file of 16,000 samples a second."""
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", ""))
        sound.writeframes(random.Random(0).randbytes(seconds * 32_000))
    return file.getvalue()


def _row(entry: dict[str, Any], number: int, split: str, subset: str) -> dict[str, Any]:
    """A made-up example: its words differ from row to row, its labels take turns."""
    text = f"the cat finds {number} letters of {split} {subset}."
    labels = entry["labels"] or ["yes", "no"]
    values: dict[str, Any] = {
        "id": f"{split}-{subset}-{number}", "group": str(number), "split": split, "subset": subset,
        "label": labels[number % len(labels)], "score": number % 6 / 1.25, "answer": number % 2,
        "tags": ["O", "O"], "tokens": ["the", "cat"], "choices": [f"house {number}", "the river"],
        "targets": [f"letter {number}"], "answers": ["letter"], "starts": [0], "task": f"task{number % 2}",
        "sentences": [f"{text} {place}" for place in range(5)], "turns": [text, f"{number} letters"],
        "heads": ["the cat"], "predicates": ["finds"], "tails": ["letters"], "verbs": [1],
        "relevance": 1, "positive_inputs": [text], "positive_outputs": ["letter"],
        "query_id": f"q-{split}-{number}", "passage_id": f"p-{split}-{number}",
        "seconds": 2.0, "rate": 16_000, "kind": "wav", "audio": _noise(2),
    }  # fmt: skip
    return {name: values.get(name, f"{name}: {text}") for name in (*columns_of(entry["kind"]),)}
