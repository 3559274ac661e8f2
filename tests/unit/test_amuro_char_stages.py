"""Fine-tuning on completions as a stage: exact after an interruption, finished cells kept, the best rate published."""

import csv

import pytest
from reprlab.models.build import build_from_config, save_model
from reprlab.registry.models import load_models
from reprlab.stages.finetune_completions import finetune_completions
from reprlab.stages.score_completions import score_completions
from reprlab.text.byte_pairs import train_byte_pairs
from reprlab.text.completions import write_completions
from reprlab.text.vocabulary import Vocabulary
from reprlab.training import completion_tuning
from reprlab.training.completion_settings import CompletionTuningSettings
from test_amuro_char_completions import TEXT, VOCABULARY

from tests.checkouts import ROOT

SETTINGS = CompletionTuningSettings(
    learning_rates=[1e-6, 1e-2], epochs=2, batch_size=4, accumulation=2, warmup_ratio=0.1, weight_decay=0.0,
    dtype="float32", max_length=64, seed=42,
)  # fmt: skip


class MachineDownError(Exception):
    """The machine went down."""


@pytest.fixture
def inputs(tmp_path):
    tokenizer = train_byte_pairs(TEXT, VOCABULARY)
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    Vocabulary.save(VOCABULARY, tmp_path / "tokenizer")
    entry = load_models(ROOT / "config/models.yaml")["olmo_nano"]
    names = ["10", "main"]
    for seed, name in enumerate(names):
        save_model(build_from_config(entry, VOCABULARY.padded_size, seed), tmp_path / name)
    words = ["no", "yes"]
    rows = [
        {"id": str(n), "role": "train" if n < 12 else "held_out", "fmt": "default", "prompt": f"the fox {n} is ",
         "completion": words[n % 2], "turns": [], "choices": [], "answer": -1}
        for n in range(16)
    ]  # fmt: skip
    about = {"title": "Foxes", "template": "paraphrase", "kind": "classification"}
    write_completions(tmp_path / "training.parquet", rows, about)
    write_completions(tmp_path / "evaluation.parquet", [{**row, "role": "test"} for row in rows], about)
    return tmp_path


def tune(folder, name):
    finetune_completions(
        models=[folder / "10", folder / "main"], names=["10", "main"], tokenizer=folder / "tokenizer",
        prompts=folder / "training.parquet", out=folder / name / "models", metrics=folder / name / "metrics.tsv",
        work=folder / name / "work", settings=SETTINGS, fingerprint="code", save_every=1,
    )  # fmt: skip


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_an_interrupted_run_ends_with_the_same_bytes(inputs, monkeypatch):
    tune(inputs, "whole")
    whole, calls = completion_tuning.causal_loss, []

    def until_the_machine_goes_down(*arguments):
        calls.append(1)
        if len(calls) == 40:
            raise MachineDownError
        return whole(*arguments)

    monkeypatch.setattr(completion_tuning, "causal_loss", until_the_machine_goes_down)
    with pytest.raises(MachineDownError):
        tune(inputs, "stopped")
    assert list((inputs / "stopped/work").rglob("cell.json")), "the first cell was finished"
    assert list((inputs / "stopped/work").rglob("resume-*")), "another was in the middle"
    assert not (inputs / "stopped/models").exists()
    tune(inputs, "stopped")
    assert len(calls) < 2 * 40, "finished cells are not trained again"
    assert contents(inputs / "stopped") == contents(inputs / "whole")


def test_the_kept_model_has_the_lowest_loss_and_is_the_one_that_is_scored(inputs):
    tune(inputs, "whole")
    with (inputs / "whole/metrics.tsv").open() as handle:
        rows = list(csv.DictReader(handle, delimiter="\t"))
    assert [(row["name"], row["learning_rate"], row["chosen"]) for row in rows] == [
        ("10", "1e-06", "0"), ("10", "0.01", "1"), ("main", "1e-06", "0"), ("main", "0.01", "1"),
    ]  # fmt: skip
    assert {row["steps"] for row in rows} == {"6"} and {row["rows"] for row in rows} == {"12"}
    from reprlab.evaluation.completion_settings import CompletionScoring

    settings = CompletionScoring.model_validate(
        {
            "family": "ladder", "train": "paws", "models": [{"name": "10", "step": 10}, {"name": "main", "step": 20}],
            "prompts": {"paws": str(inputs / "evaluation.parquet")}, "max_length": 64, "max_new_tokens": 4,
            "cells": [
                {"eval": "paws", "shots": 2, "method": "tokenprob"},
                {"eval": "paws", "shots": 0, "method": "free", "names": ["main"]},
                {"eval": "paws", "shots": 0, "method": "constrained", "names": ["main"]},
            ],
            "free_tokens": 5, "beams": 3, "bootstrap": 20, "seed": 0, "tuning_seed": 42, "dtype": "float32",
        }
    )  # fmt: skip
    outputs = []
    for batch in (1, 32):
        score_completions(
            models=[inputs / "whole/models/10", inputs / "whole/models/main"], tokenizer=inputs / "tokenizer",
            out=inputs / "scores.tsv", predictions=inputs / "predictions.parquet", settings=settings,
            tuning=inputs / "whole/metrics.tsv", inference_batch=batch,
        )  # fmt: skip
        outputs.append((inputs / "scores.tsv").read_bytes())
    assert outputs[0] == outputs[1], "the batch of inference changes nothing"
    with (inputs / "scores.tsv").open() as handle:
        scored = list(csv.DictReader(handle, delimiter="\t"))
    assert [(row["ckpt"], row["method"]) for row in scored] == [
        ("10", "tokenprob"), ("main", "tokenprob"), ("main", "free"), ("main", "constrained"),
    ]  # fmt: skip
    assert {row["lr"] for row in scored} == {"0.01"} and {row["majority"] for row in scored} == {"50.0"}
