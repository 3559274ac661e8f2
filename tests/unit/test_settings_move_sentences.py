"""Every setting of the stages on sentence encoders moves what the stage writes, or is said here not to.

Columns and files that repeat a setting are left out of what is compared.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from finetune_fixtures import make_bert, make_tokenizer
from moved_settings import moved
from reprlab.artifacts.tables import read_tsv
from reprlab.data.schema import write_rows
from reprlab.models.build import build_from_config, save_model
from reprlab.registry.models import ModelEntry
from reprlab.sentences.block_pruning import PruningSettings
from reprlab.sentences.prompt_forms import DecomposedPrompt, PromptTraining, ResidualPrompt
from reprlab.sentences.settings import (
    ContrastiveTraining,
    EmbeddingTask,
    EncoderSettings,
    Evaluation,
    LayerLosses,
    LowRank,
    Matryoshka2D,
    PostTraining,
    TaskScores,
    TextForm,
    TripleSample,
    TripleTexts,
    Whitening,
)
from reprlab.sentences.sizes import SizedEncoders
from reprlab.sentences.triples import Triples
from reprlab.stages.count_encoders import count_encoders
from reprlab.stages.evaluate_encoder import evaluate_encoder
from reprlab.stages.evaluate_text_baselines import evaluate_text_baselines
from reprlab.stages.measure_layers import measure_layers
from reprlab.stages.post_train import post_train
from reprlab.stages.prune_block import prune_block
from reprlab.stages.tokenize_triples import tokenize_triples
from reprlab.stages.train_encoder import train_encoder
from reprlab.stages.train_prompt import train_prompt
from reprlab.training.settings import EngineSettings, PretrainSettings
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
from training_samples import write_tokens
from transformers import PreTrainedTokenizerFast

pytestmark = [pytest.mark.release, pytest.mark.usefixtures("one_thread")]

Own = dict[str, Any]
WORDS = ["good", "bad", "film", "was", "the", "very", "a", "b", "c", "d", "first", "second"]
ADAPTER = {"rank": 2, "alpha": 4, "targets": ["q_proj", "v_proj"]}
LORA = {"method": "lora", "adapter": ADAPTER, "pooling": "mean"}
ENGINE = {
    "steps": 3, "batch_size": 6, "optimizer": {"learning_rate": 1.0}, "log_every": 1, "schedule": {"name": "linear"},
}  # fmt: skip
TRAINING = {
    "encoder": LORA, "engine": ENGINE, "learning_rates": [1e-2], "seeds": [0], "temperature": 0.05, "evaluate_every": 2,
}  # fmt: skip
CONFIG = {
    "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 24, "max_position_embeddings": 64, "vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip
ENTRY = ModelEntry(architecture="llama", config=CONFIG, source="x", tie_output=True, origin={"kind": "scratch"})
NESTED = {"kind": "matryoshka_2d", "narrowest": 2, "weight": 1.0, "alignment": 1.0, "temperature": 1.0}
WHITENING = {"fit_on": "train", "texts": 40, "dimensions": None, "seed": 0}
CATEGORIES = ["sts", "retrieval", "reranking", "clustering", "pair_classification", "classification"]


def reader(folder: Path) -> None:
    """A tokenizer of words, blanks and marks, which puts its first token before a text."""
    pieces = ["<pad>", "<s>", "</s>", "<unk>", " ", ":", ";", *WORDS]
    words = Tokenizer(models.WordLevel({piece: number for number, piece in enumerate(pieces)}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s:;]"), "isolated")
    words.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A decoder and an encoder with one tokenizer, triples, pairs with likeness, and a task of each category."""
    folder = tmp_path_factory.mktemp("encoders")
    make_bert(folder / "bert", make_tokenizer(folder / "unused"))
    # Larger weights: what is read decides the order of similarities.
    llama = build_from_config(ENTRY, seed=0)
    with torch.no_grad():
        for weight in llama.parameters():
            weight.mul_(8 if weight.dim() > 1 else 1)
    save_model(llama, folder / "llama")
    reader(folder / "reader")
    rng = np.random.default_rng(0)

    def text() -> str:
        return f" {' '.join(rng.choice(WORDS, rng.integers(2, 7)).tolist())} "

    def write(name: str, kind: str, rows: list[Own]) -> Path:
        path, split = folder / name / "examples.parquet", ("train", "validation", "test")
        path.parent.mkdir()
        about = [{"id": f"{n}", "group": f"{n}", "split": split[n % 3], **row} for n, row in enumerate(rows)]
        write_rows(path, about, kind, {"name": name, "title": name})
        return path

    choice = [{"context": "", "question": text(), "choices": [text(), text()], "answer": n % 2} for n in range(60)]
    likeness = [{"text_a": text(), "text_b": text(), "score": float(rng.random())} for _ in range(60)]
    asked = [text() for _ in range(11)]
    # Of each query there is the passage that has its id.
    search = [
        {"query_id": f"{n // 6}", "query": asked[n // 6], "passage_id": f"{n}", "passage": (*asked, text())[min(n, 11)],
         "relevance": int(rng.random() < 0.5)}
        for n in range(66)
    ]  # fmt: skip
    single = [{"text": text() + WORDS[n // 3 % 2], "label": f"{n // 3 % 2}", "subset": ""} for n in range(60)]
    same = [{"text_a": text(), "text_b": text(), "label": ("same", "other")[n // 9 % 2], "subset": ""}
            for n in range(60)]  # fmt: skip
    found = {name: folder / name for name in ("bert", "llama", "reader")}
    found |= {"triples": [write("triples", "choice", choice), write("further", "choice", choice[:30])]}
    found |= {"sts": write("likeness", "similarity", likeness), "retrieval": write("search", "ranking", search)}
    found |= {"reranking": found["retrieval"], "clustering": write("single", "single", single)}
    found |= {"pair_classification": write("same", "pair", same), "classification": found["clustering"]}
    tokenize_triples(
        triples=found["triples"], tokenizer=found["reader"], out=folder / "tokens",
        settings=TripleTexts.model_validate({"form": {}}),
    )  # fmt: skip
    return {**found, "tokens": folder / "tokens"}


def trained(place: dict[str, Any], folder: Path, own: Own) -> list[Any]:
    """Weights of each seed, losses and held-out scores."""
    train_encoder(
        model=place["llama"], tokenizer=place["reader"], triples=place["tokens"], held_out=[place["sts"]],
        out=folder / "encoders", metrics=folder / "metrics.tsv", cost=folder / "cost.tsv", work=folder / "work/one",
        settings=ContrastiveTraining.model_validate(own), fingerprint=str(folder),
    )  # fmt: skip
    table = read_tsv(folder / "metrics.tsv")[["step", "loss", "held_out"]]
    weights = sorted((folder / "encoders").glob("*/trained.safetensors"))
    return [*(path.read_bytes() for path in weights), table.to_csv()]


def scores(path: Path) -> str:
    return read_tsv(path)[["dataset", "metric", "value", "low", "high", "n"]].to_csv()


def evaluated(place: dict[str, Any], folder: Path, own: Own, model: str = "llama") -> str:
    """Scores where nothing was trained."""
    settings = Evaluation.model_validate(own)
    evaluate_encoder(
        model=place[model], tokenizer=place["reader"], tasks=[place[task.category] for task in settings.tasks],
        out=folder / "scores.tsv", settings=settings, triples=place["tokens"], fitting=place["tokens"],
    )  # fmt: skip
    return scores(folder / "scores.tsv")


def evaluation(*categories: str, **own: Any) -> Own:
    tasks = [{"name": name, "category": name} for name in categories]
    few = {"seeds": [0], "per_label": 4, "draws": 5, "resamples": 9}
    return {"encoder": {"method": "none", "pooling": "mean"}, "tasks": tasks, **few, **own}


def test_settings_of_triples_and_of_the_form_of_a_text(place, fresh):
    def made(own: Own) -> list[bytes]:
        out = fresh() / "tokens"
        settings = TripleTexts.model_validate(own)
        tokenize_triples(triples=place["triples"], tokenizer=place["reader"], out=out, settings=settings)
        return [(out / name).read_bytes() for name in ("ids.bin", "offsets.npy", "starts.npy", "triples.json")]

    base = {"form": {}, "instructions": {"triples": ["the", "very film"]}}
    changes = {
        "form": {"max_length": 2}, "split": "test", "instructions": {"triples": ["very film", "the"]},
        "both_sides": ["triples"], "separator": ": ", "limit": 4,
    }  # fmt: skip
    moved(TripleTexts, made, base, changes, {})
    form = {"before": "good ", "after": "bad", "begin": False, "max_length": 3, "stripped": True, "whole": True}
    form |= {"echo": ""}
    moved(TextForm, lambda own: made({**base, "form": own}), {}, form, {})
    first, other = (made({**base, "form": {"echo": words}}) for words in ("", " film "))
    assert first != other, "what is between the copies"


def test_settings_of_an_encoder_and_of_its_adapters(place, fresh):
    def made(own: Own) -> Any:
        """What is trained, or scores of what is not."""
        if own["method"] == "none":
            settings = evaluation("sts", "classification", encoder=own)
            return evaluated(place, fresh(), settings, "bert" if "pooler" in own else "llama")
        return trained(place, fresh(), {**TRAINING, "encoder": own})

    prompt, plain = {"method": "prompt", "adapter": None, "vectors": 2}, {"method": "none", "adapter": None}
    changes = {
        "method": "prefix", "pooling": "weighted_mean", "pooler": True, "bidirectional": True, "layers": 2,
        "vectors": 3, "position": "prepend", "start": "normal", "adapter": {**ADAPTER, "targets": ["o_proj"]},
        "form": {"before": "good "}, "normalised": True, "both_ends": True,
    }  # fmt: skip
    beside = {
        "method": prompt, "vectors": prompt, "start": prompt, "position": {**prompt, "bidirectional": True},
        "pooler": {**plain, "pooling": "first", "pooler": False}, "normalised": plain,
    }  # fmt: skip
    moved(EncoderSettings, made, LORA, changes, {}, beside=beside)
    first = made({**LORA, **plain})
    for name in ("pooling", "bidirectional", "layers", "form", "both_ends"):
        assert made({**LORA, **plain, name: changes[name]}) != first, f"{name} moves no score"
    # `partial` allows names that match nothing, and all of these match.
    low = {"rank": 3, "alpha": 8, "dropout": 0.5, "targets": ["q_proj"]}
    moved(LowRank, lambda own: made({**LORA, "adapter": own}), ADAPTER, low, {"partial": True})


def test_settings_of_contrastive_training(place, fresh):
    def made(own: Own) -> list[Any]:
        return trained(place, fresh(), own)

    changes = {
        "encoder": {**LORA, "pooling": "last"}, "engine": {**ENGINE, "batch_size": 5}, "learning_rates": [1e-3],
        "seeds": [1], "epochs": 1.0, "temperature": 0.1, "evaluate_every": 1, "mixed": False, "held_out_limit": 5,
        "objective": NESTED,
    }  # fmt: skip
    # All texts of a batch are in one part either way; that smaller ones change nothing is a test of its own.
    moved(ContrastiveTraining, made, TRAINING, changes, {"part_size": 300})
    engine = {
        "steps": 4, "batch_size": 5, "optimizer": {"learning_rate": 1.0, "weight_decay": 0.5},
        "schedule": {"name": "constant"}, "dtype": "bfloat16", "log_every": 2,
    }  # fmt: skip
    # The seeds of the training replace that of the loop, the looks at held-out pairs its ladder.
    still = {"seed": 1, "ladder": [1]}
    refused = {"accumulation": (2, "accumulation: it would take negatives away")}
    moved(EngineSettings, lambda own: made({**TRAINING, "engine": own}), ENGINE, engine, still, refused=refused)
    rate = {**ENGINE, "optimizer": {"learning_rate": 0.5}}
    assert made({**TRAINING, "engine": rate}) == made(TRAINING), "the rates of the training replace that of the loop"


def test_settings_of_an_objective_for_all_depths(place, fresh):
    def made(own: Own) -> list[Any]:
        return trained(place, fresh(), {**TRAINING, "objective": own})

    # There is one kind.
    changes = {"narrowest": 5, "weight": 0.5, "alignment": 3.0, "temperature": 2.0}
    moved(Matryoshka2D, made, NESTED, changes, {"kind": "matryoshka_2d"})


def test_settings_of_the_training_of_a_prompt_in_another_form(place, fresh):
    residual = {"kind": "residual", "width": 5, "layer_norm": True}
    decomposed = {"kind": "decomposed", "rank": 1, "spread": 0.5}
    prompt = {"method": "prompt", "vectors": 3, "pooling": "last"}
    base = {**TRAINING, "encoder": prompt, "form": residual}

    def made(own: Own) -> list[Any]:
        folder = fresh()
        train_prompt(
            model=place["llama"], tokenizer=place["reader"], triples=place["tokens"], held_out=[place["sts"]],
            out=folder / "encoders", metrics=folder / "metrics.tsv", work=folder / "work/one",
            settings=PromptTraining.model_validate(own), fingerprint=str(folder),
        )  # fmt: skip
        table = read_tsv(folder / "metrics.tsv")[["step", "loss", "held_out"]]
        return [*(path.read_bytes() for path in sorted((folder / "encoders").glob("*/*"))), table.to_csv()]

    changes = {
        "encoder": {**prompt, "pooling": "mean"}, "engine": {**ENGINE, "batch_size": 5}, "learning_rates": [1e-3],
        "seeds": [1], "epochs": 1.0, "temperature": 0.1, "evaluate_every": 1, "mixed": False, "held_out_limit": 5,
        "form": decomposed,
    }  # fmt: skip
    # What is added at other layers is not of a prompt.
    moved(PromptTraining, made, base, changes, {"part_size": 300, "objective": None})
    # What kind it is says which of the two it is.
    width = {"width": 6, "layer_norm": False}
    moved(ResidualPrompt, lambda own: made({**base, "form": own}), residual, width, {"kind": "residual"})
    rank = {"rank": 2, "spread": 0.1}
    moved(DecomposedPrompt, lambda own: made({**base, "form": own}), decomposed, rank, {"kind": "decomposed"})


def test_settings_of_the_evaluation_of_an_encoder_and_of_a_sample_of_triples(place, fresh, monkeypatch):
    sample = {"batch_size": 6, "batches": 3, "temperature": 0.05}
    base = evaluation("sts", "classification", sample=sample)
    base["tasks"][0]["instruction"] = "very"

    def made(own: Own) -> str:
        return evaluated(place, fresh(), own)

    changes = {
        "tasks": base["tasks"][1:], "seeds": [1], "per_label": 1, "draws": 3, "resamples": 20,
        "encoder": {"method": "none", "pooling": "first"}, "sample": None, "separator": " film good ",
        "dtype": "bfloat16", "whitening": WHITENING,
    }  # fmt: skip
    moved(Evaluation, made, base, changes, {})
    own = {"batch_size": 5, "batches": 2, "temperature": 0.1, "seed": 1}
    # The triples are those of the file, whatever they are called; the name is in a column that is not compared.
    moved(TripleSample, lambda own: made({**base, "sample": own}), sample, own, {"split": "test"})
    # Of the same triples the seed moves the interval.
    monkeypatch.setattr(Triples, "sample", lambda self, size, count, seed: np.arange(size * count).reshape(count, size))
    seeds = [made({**base, "sample": {"batch_size": 3, "batches": 9, "temperature": 0.05, "seed": n}}) for n in (0, 1)]
    assert seeds[0] != seeds[1]


def test_settings_of_the_whitening_of_vectors(place, fresh):
    def made(own: Own) -> str:
        return evaluated(place, fresh(), {**evaluation("sts", "classification"), "whitening": own})

    changes = {"fit_on": "test", "texts": 30, "dimensions": 3, "seed": 1}
    moved(Whitening, made, WHITENING, changes, {})
    of_test = {**WHITENING, "fit_on": "test"}
    assert made({**of_test, "texts": 30, "seed": 1}) == made(of_test), "a task gives all of its texts"
    assert made({**of_test, "dimensions": 3}) != made(of_test)


def test_settings_of_what_no_model_made(place, fresh):
    def made(own: Own) -> str:
        settings, out = TaskScores.model_validate(own), fresh() / "scores.tsv"
        evaluate_text_baselines(tasks=[place[task.category] for task in settings.tasks], out=out, settings=settings)
        return scores(out)

    base = {key: value for key, value in evaluation("sts", "classification").items() if key != "encoder"}
    changes = {"tasks": base["tasks"][:1], "seeds": [1], "per_label": 1, "draws": 3, "resamples": 20}
    moved(TaskScores, made, base, changes, {})


def test_settings_of_a_task(place, fresh):
    def made(own: Own) -> str:
        return evaluated(place, fresh(), {**evaluation("sts"), "tasks": [own]})

    changes = {
        "name": "other", "category": "reranking", "split": "validation", "instruction": "very",
        "passage_instruction": "very", "limit": 9, "passages": 12, "drop_own": True, "train_limit": 6, "per_label": 2,
        "same": "other",
    }  # fmt: skip
    few = {"category": "classification"}
    beside = {"train_limit": few, "per_label": few, "same": {"category": "pair_classification"}}
    moved(EmbeddingTask, made, {"name": "task", "category": "retrieval"}, changes, {}, beside=beside)
    for category in CATEGORIES:
        base = {"name": "task", "category": category}
        for name, value in {"instruction": "very", "limit": 9, "split": "validation"}.items():
            assert made({**base, name: value}) != made(base), f"{name} of {category} moves nothing"


def test_settings_of_losses_by_layer(place, fresh):
    encoder = {"method": "none", "pooling": "weighted_mean"}
    base = {"encoder": encoder, "batch_size": 6, "batches": 3, "temperature": 0.05}

    def made(own: Own) -> str:
        out = fresh() / "losses.tsv"
        settings = LayerLosses.model_validate(own)
        measure_layers(model=place["llama"], triples=place["tokens"], out=out, settings=settings)
        return read_tsv(out)[["layer", "batch", "loss"]].to_csv()

    changes = {
        "encoder": {**encoder, "pooling": "last"}, "batch_size": 5, "batches": 2, "temperature": 0.1, "seed": 1,
        "dtype": "bfloat16",
    }  # fmt: skip
    # As of a sample: a name.
    moved(LayerLosses, made, base, changes, {"split": "test"})
    turned = {**encoder, "bidirectional": True}
    assert made({**base, "encoder": turned}) != made(base)


def test_settings_of_a_block_that_is_removed(place, fresh):
    def made(own: Own) -> list[Any]:
        folder = fresh()
        folder.mkdir(exist_ok=True)
        prune_block(
            model=place["llama"], tokenizer=place["reader"], triples=place["tokens"], out=folder / "model",
            blocks=folder / "blocks.tsv", settings=PruningSettings.model_validate(own),
        )  # fmt: skip
        return [(folder / "model/model.safetensors").read_bytes(), (folder / "blocks.tsv").read_bytes()]

    base = {"method": "replace_me", "layers": 2, "texts": 40, "alpha": 0.0, "seed": 0}
    changes = {
        "method": "block_cosine", "layers": 1, "texts": 30, "alpha": 9.0, "first_tokens": False, "seed": 1,
        "dtype": "bfloat16",
    }  # fmt: skip
    moved(PruningSettings, made, base, changes, {})
    unrepaired = {**base, "method": "block_cosine"}
    assert made({**unrepaired, "alpha": 9.0, "first_tokens": False}) == made(unrepaired), "there is no map"


def test_settings_of_post_training(tmp_path, fresh):
    vocabulary = make_tokenizer(tmp_path / "reader")
    tokens, _ = write_tokens(tmp_path / "tokens", "causal", rows=20, pieces=vocabulary.pieces)
    save_model(build_from_config(ENTRY, vocabulary.padded_size, seed=0), tmp_path / "model")
    training = {"objective": "mntp", "input_length": 16, "target_length": 16, "engine": ENGINE}
    base = {"training": training, "adapter": ADAPTER}

    def made(own: Own) -> list[Any]:
        folder = fresh()
        post_train(
            tokens=tokens, model=tmp_path / "model", tokenizer=tmp_path / "reader", out=folder / "model",
            metrics=folder / "metrics.tsv", work=folder / "work", fingerprint=str(folder),
            settings=PostTraining.model_validate(own),
        )  # fmt: skip
        return [(folder / "model/model.safetensors").read_bytes(), (folder / "metrics.tsv").read_bytes()]

    moved(PostTraining, made, base, {"training": {**training, "packing": True}, "adapter": {**ADAPTER, "rank": 3}}, {})
    changes = {
        "objective": "causal_lm", "objective_settings": {"mask_probability": 0.5}, "input_length": 8, "packing": True,
        "engine": {**ENGINE, "seed": 1},
    }  # fmt: skip
    # A decoder predicts in its input, starts from a model, and has no dropout of T5's.
    still = {"target_length": 8, "init_step": 1, "dropout": 0.5}
    refused = {"replay": ({"share": 0.5, "objective": training["objective"]}, "reads one text")}
    moved(PretrainSettings, lambda own: made({**base, "training": own}), training, changes, still, refused=refused)


def test_settings_of_the_sizes_of_encoders(fresh):
    base = {"entry": ENTRY.model_dump(), "encoders": {"lora 2": LORA}}

    def made(own: Own) -> bytes:
        out = fresh() / "sizes.tsv"
        count_encoders(settings=SizedEncoders.model_validate(own), out=out)
        return out.read_bytes()

    wider = {**base["entry"], "config": {**CONFIG, "hidden_size": 32}}
    form = {"kind": "residual", "width": 5, "layer_norm": True}
    prompt = {"prompt 2": {"method": "prompt", "vectors": 2, "pooling": "last"}}
    changes = {
        "entry": wider,
        "encoders": {"prompt 2": {**prompt["prompt 2"], "vectors": 3}},
        "forms": {"prompt 2": form},
    }
    moved(SizedEncoders, made, {**base, "encoders": prompt}, changes, {})
    assert made({**base, "encoders": {"lora 2": {**LORA, "layers": 2}}}) != made(base)
