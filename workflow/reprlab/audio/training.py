"""Training of a recogniser with exact resume, and its scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from reprlab.artifacts.json_files import write_json
from reprlab.artifacts.tables import write_parquet
from reprlab.artifacts.tsv import write_rows
from reprlab.audio.adapters import tune
from reprlab.audio.recognition import (
    Recogniser,
    Utterances,
    Vocabulary,
    alignable,
    ctc_loss,
    subset,
    transcribed,
    utterances,
)
from reprlab.audio.scores import constant_answers, error_counts, score_rows
from reprlab.audio.settings import RecogniserSettings
from reprlab.models.build import load_model
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import atomic_directory
from reprlab.runtime.storage import storage_errors
from reprlab.training.engine import train
from reprlab.training.finetuning_order import TrainingOrder
from reprlab.training.fingerprints import run_fingerprint

_TENSORS = "trained.safetensors"
_SCORED = ("validation", "test")
# Parts of a set, as clean and other; more groups than these are sentences.
_MOST_PARTS = 3


def train_one(
    settings: RecogniserSettings,
    speech: Path,
    folder: Path,
    source: Path | None,
    *,
    out: Path,
    metrics: Path,
    curve: Path,
    hypotheses: Path,
    work: Path,
    fingerprint: str,
    save_every: int,
    device: str,
) -> None:
    """See `reprlab.stages.train_recogniser`."""
    sets = {split: utterances(speech, split, None) for split in ("train", *_SCORED)}  # type: ignore[arg-type]
    vocabulary = Vocabulary.of(sets["train"].texts)
    model = build(settings, folder, len(vocabulary))
    if source is not None:
        start_from(model, source / _TENSORS)
    heard = {split: Utterances(one.rows, model) for split, one in sets.items()}
    for split in _SCORED:
        held = heard[split]
        heard[split] = held.kept(range(min(len(held), settings.evaluation_utterances or len(held))))
    chosen = heard["train"].kept(subset(heard["train"].seconds, settings.minutes, settings.data_seed))
    for one in (chosen, *(heard[split] for split in _SCORED)):
        one.require_lengths()
    chosen = alignable(chosen)
    inputs = [speech, *(path for one in (folder, *([source] if source else [])) for path in one.iterdir())]
    run = train(
        model,
        _Batches(chosen, vocabulary, settings),
        ctc_loss,
        settings.engine,
        work=work,
        save_every=save_every,
        fingerprint=run_fingerprint(fingerprint, settings, [path for path in inputs if path.is_file()]),
        on_checkpoint=lambda step, model: None,
        device=device,
    )
    if not run.is_main:
        return
    where = str(next(model.parameters()).device)
    rows: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    about = {"steps": run.step, "tokens": run.tokens, "minutes": float(chosen.seconds.sum()) / 60}
    for split in _SCORED:
        held = heard[split]
        answers = {"model": transcribed(held, vocabulary, settings.engine.batch_size, where)}
        answers |= constant_answers(chosen.texts, len(held))
        for name, texts in answers.items():
            for subset_name, numbers in _subsets(held).items():
                part = score_rows([held.texts[one] for one in numbers], [texts[one] for one in numbers])
                rows += [{"name": name, "split": split, "subset": subset_name, **row, **about} for row in part]
        counts = error_counts(held.texts, answers["model"])
        ids = held.rows["id"].to_pylist()
        for place, (one, reference, text) in enumerate(zip(ids, held.texts, answers["model"], strict=True)):
            errors = {name: values[place] for name, values in counts.items()}
            written.append({"id": one, "split": split, "reference": reference, "hypothesis": text, **errors})
    import pyarrow

    write_parquet(hypotheses, pyarrow.Table.from_pylist(written))
    write_rows(curve, [{"metric": "loss", "value": row["loss"], "split": "train", **row} for row in run.metrics])
    write_rows(metrics, rows)
    with atomic_directory(out) as target:
        save_trained(model, target / _TENSORS)
        write_json(target / "vocabulary.json", {"characters": vocabulary.characters})


def build(settings: RecogniserSettings, folder: Path, symbols: int) -> Recogniser:
    """The tuned model with a new head, drawn with the seed alone: not by how many numbers came before it."""
    encoder = load_model(folder)
    torch.manual_seed(settings.engine.seed)
    tune(encoder, settings.tuning)
    return Recogniser(encoder, symbols, settings.head_learning_rate / settings.engine.optimizer.learning_rate)


def trained_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """What training changes of a model; the rest is in the encoder's own folder."""
    return {name: one.detach().cpu().contiguous() for name, one in model.named_parameters() if one.requires_grad}


def save_trained(model: torch.nn.Module, path: Path) -> None:
    """Write the trained tensors."""
    from safetensors.torch import save_file

    with storage_errors():
        save_file(trained_tensors(model), path)


def start_from(model: torch.nn.Module, path: Path, *, head: bool = False) -> None:
    """Take the trained tensors of another language, but not its head, whose symbols are others.

    Raises:
        ReprlabError: it was tuned otherwise.
    """
    from safetensors.torch import load_file

    own = dict(model.named_parameters())
    kept = {name: value for name, value in load_file(path).items() if head or not name.startswith("head.")}
    wanted = {name for name, one in own.items() if one.requires_grad and (head or not name.startswith("head."))}
    if wanted != set(kept) or any(own[name].shape != value.shape for name, value in kept.items()):
        raise ReprlabError(f"{path}: was tuned otherwise than what starts from it; give both the same method")
    with torch.no_grad():
        for name, value in kept.items():
            own[name].copy_(value)


def _subsets(held: Utterances) -> dict[str, list[int]]:
    """Numbers of all utterances under an empty name, and of the parts of the set, where there are a few."""
    group = held.rows["group"].to_pylist()
    names = sorted(set(group)) if 1 < len(set(group)) <= _MOST_PARTS else []
    parts = {name: [number for number, one in enumerate(group) if one == name] for name in names}
    return {"": list(range(len(held))), **parts}


class _Batches:
    """Batches of utterances of similar lengths, a function of (seed, step)."""

    def __init__(self, chosen: Utterances, vocabulary: Vocabulary, settings: RecogniserSettings) -> None:
        engine = settings.engine
        self.chosen, self.accumulation = chosen, engine.accumulation
        self.symbols = [torch.tensor(vocabulary.encode(text)) for text in chosen.texts]
        self.order = TrainingOrder(len(chosen), engine.batch_size, engine.seed, chosen.seconds)

    def __call__(self, step: int, part: int, rank: int, world: int) -> dict[str, torch.Tensor]:
        rows = self.order.rows(step)[rank * self.accumulation + part :: world * self.accumulation]
        inputs, lengths = self.chosen.batch([int(row) for row in rows])
        targets = [self.symbols[int(row)] for row in rows]
        return {
            "inputs": inputs,
            "lengths": lengths,
            "targets": torch.nn.utils.rnn.pad_sequence(targets, batch_first=True),
            "target_lengths": torch.tensor([len(one) for one in targets]),
        }
