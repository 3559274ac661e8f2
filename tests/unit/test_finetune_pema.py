"""Ways to treat the embedding in the fine-tuning stage: PEMA, with the same scores and predictions, and its rivals."""

import json
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
import torch
from finetune_fixtures import make_bert, make_examples, make_tokenizer, sentiment_rows
from pydantic import ValidationError
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.finetune_model import finetune_model
from reprlab.stages.measure_finetuning import measure_finetuning
from reprlab.stages.pema_adapt import pema_adapt as adapt_stage
from reprlab.stages.pema_restore import pema_restore as restore_stage
from reprlab.training import finetuning, finetuning_cost
from reprlab.training.finetuning_settings import FinetuneSettings, TaskSettings
from reprlab.training.pema_artifacts import pema_adapt, pema_restore
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

UNSEEN = {"text": "Coherent First film was Second good e", "label": "1", "split": "validation"}

# Answers of a model folder in a process that knows nothing but transformers.
ANSWER = """
import json, sys, pyarrow.parquet as parquet
from transformers import AutoModelForSequenceClassification, AutoTokenizer
folder, table = sys.argv[1:]
model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
answers = {}
for row in parquet.read_table(table).to_pylist():
    if row["split"] == "validation":
        ids = tokenizer(row["text"], return_tensors="pt", truncation=True, max_length=16)
        answers[row["id"]] = str(model(**ids).logits.argmax().item())
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pema")
    vocabulary = make_tokenizer(folder / "tokenizer")
    make_bert(folder / "bert", vocabulary)
    # The last validation example has words that no training example has.
    make_examples(folder / "single.parquet", "single", [*sentiment_rows(), UNSEEN], ["0", "1"])
    return folder


def settings_of(partial, weight_decay=0.0, steps=30, **task):
    values = {"kind": "classification", "metrics": ["accuracy"], "input_length": 16, **task}
    engine = {"steps": steps, "batch_size": 8, "optimizer": {"learning_rate": 1.0, "weight_decay": weight_decay}}
    way = {"kind": "partial", "splits": partial} if isinstance(partial, list) and partial else partial or None
    return FinetuneSettings(
        task=TaskSettings(**values), engine=engine, learning_rates=[3e-3], dropout=0.1, embedding=way
    )


def run(toy, out, settings, work=None, save_every=500):
    finetune_model(
        models=[toy / "bert"], names=["bert"], tokenizer=toy / "tokenizer", examples=toy / "single.parquet",
        out_metrics=out / "metrics.tsv", out_predictions=out / "predictions.parquet", work=work or out / "work",
        settings=settings, fingerprint="code", save_every=save_every, inference_batch=4,
    )  # fmt: skip
    return (out / "metrics.tsv").read_bytes(), read_parquet(out / "predictions.parquet").to_pylist()


@pytest.mark.parametrize("partial", [["train", "validation"], ["train"]])
def test_scores_and_predictions_are_the_same_with_and_without(toy, tmp_path, partial):
    whole = run(toy, tmp_path / "whole", settings_of([]))
    assert run(toy, tmp_path / "partial", settings_of(partial)) == whole
    assert whole[1], "there are predictions, among them that of an example with unseen words"


def test_weight_decay_shows_at_examples_with_words_that_were_not_trained_on(toy, tmp_path, monkeypatch):
    kept = {}

    def keep(prepared, network, *rest):
        kept[len(kept)] = network.get_input_embeddings().weight.detach().clone()
        return real(prepared, network, *rest)

    real = finetuning._predict
    monkeypatch.setattr(finetuning, "_predict", keep)
    for number, partial in enumerate([[], ["train"]]):
        run(toy, tmp_path / str(number), settings_of(partial, weight_decay=0.5))
    differing = (kept[0] != kept[1]).any(dim=1)
    assert 0 < int(differing.sum()) < len(differing), "the rows of unread tokens differ, the others do not"


def test_a_run_that_was_stopped_ends_with_the_same_bytes(toy, tmp_path, monkeypatch, way=("train",)):
    way = list(way) if isinstance(way, tuple) else way
    expected = run(toy, tmp_path / "once", settings_of(way))
    work, real = tmp_path / "work", finetuning.train

    def stopped(*args, **options):
        batch_of = args[1]

        def until(step, *rest):
            if step == 17:
                raise ReprlabError("killed")
            return batch_of(step, *rest)

        return real(args[0], until, *args[2:], **options)

    monkeypatch.setattr(finetuning, "train", stopped)
    with pytest.raises(ReprlabError, match="killed"):
        run(toy, tmp_path / "again", settings_of(way), work, save_every=5)
    assert list(work.rglob("resume-*"))
    monkeypatch.setattr(finetuning, "train", real)
    assert run(toy, tmp_path / "again", settings_of(way), work, save_every=5) == expected


TRIMMED = {"kind": "trimmed", "splits": ["train"]}
PRODUCT = {"kind": "factorised", "rank": 4}


def test_trimming_to_all_that_is_scored_changes_nothing(toy, tmp_path):
    every = {"kind": "trimmed", "splits": ["train", "validation"]}
    assert run(toy, tmp_path / "every", settings_of(every)) == run(toy, tmp_path / "whole", settings_of([]))


def test_words_that_no_training_text_has_are_read_as_the_unknown_token(toy):
    settings = settings_of(TRIMMED)
    prepared = finetuning.prepare_task(toy / "single.parquet", toy / "tokenizer", settings)
    network = prepared.task.load(toy / "bert", 0.0)
    way = finetuning.reduce_embedding(prepared.task, prepared.encoded, settings.embedding, network)
    train, scored = (prepared.encoded[split].inputs.flat for split in ("train", "validation"))
    tokens, unknown = way.vocabulary.selected, prepared.task.tokenizer.unk_token_id
    seen = {
        *train.tolist(),
        *tokens[: prepared.task.tokenizer.pad_token_id + 1],
        *prepared.task.tokenizer.all_special_ids,
    }
    expected = [one if one in seen else unknown for one in scored.tolist()]
    assert expected != scored.tolist()
    assert tokens[way.scored(prepared.encoded["validation"]).inputs.flat].tolist() == expected
    assert tokens[way.trained(prepared.encoded["train"]).inputs.flat].tolist() == train.tolist()
    way.finish(network, lambda: prepared.task.load(toy / "bert", 0.0))
    assert len(network.get_input_embeddings().weight) == len(tokens), "what is scored reads the rows that are left"


def test_a_trimmed_model_is_kept_with_its_rows_alone(toy, tmp_path):
    run(toy, tmp_path, settings_of(TRIMMED).model_copy(update={"keep": True}))
    (kept,) = (tmp_path / "models").iterdir()
    tokens = load_file(kept / "vocabulary.safetensors")["selected"]
    rows = AutoModelForSequenceClassification.from_pretrained(kept).get_input_embeddings().weight
    assert len(rows) == len(tokens) < len(AutoTokenizer.from_pretrained(toy / "tokenizer"))


def test_a_tokenizer_without_an_unknown_token_cannot_be_trimmed(toy, tmp_path):
    prepared = finetuning.prepare_task(toy / "single.parquet", toy / "tokenizer", settings_of(TRIMMED))
    prepared.task.tokenizer = types.SimpleNamespace(unk_token_id=None, pad_token_id=0, all_special_ids=[0])
    network = prepared.task.load(toy / "bert", 0.0)
    with pytest.raises(ReprlabError, match="no unknown token"):
        finetuning.reduce_embedding(prepared.task, prepared.encoded, settings_of(TRIMMED).embedding, network)


def test_a_factorised_model_trains_both_matrices_and_is_kept_as_their_product(toy, tmp_path):
    settings = settings_of(PRODUCT).model_copy(update={"keep": True})
    _, predictions = run(toy, tmp_path / "kept", settings)
    (folder,) = (tmp_path / "kept/models").iterdir()
    matrix = AutoModel.from_pretrained(folder).get_input_embeddings().weight.detach()
    before = AutoModel.from_pretrained(toy / "bert").get_input_embeddings().weight.detach()
    values = torch.linalg.svdvals(matrix.double())
    assert values[PRODUCT["rank"]] < 1e-5 < values[PRODUCT["rank"] - 1], "the kept matrix has the rank of the settings"
    directions = torch.linalg.svd(before.double(), full_matrices=False).Vh[: PRODUCT["rank"]]
    apart = matrix.double() - matrix.double() @ directions.T @ directions
    assert apart.norm() > 1e-3, "the second matrix was trained too"
    answers = json.loads(subprocess.check_output([sys.executable, "-c", ANSWER, folder, toy / "single.parquet"]))
    assert answers == {row["id"]: row["prediction"] for row in predictions}
    assert run(toy, tmp_path / "plain", settings_of(PRODUCT))[1] == predictions


@pytest.mark.parametrize("way", [TRIMMED, PRODUCT])
def test_a_rival_that_was_stopped_ends_with_the_same_bytes(toy, tmp_path, monkeypatch, way):
    test_a_run_that_was_stopped_ends_with_the_same_bytes(toy, tmp_path, monkeypatch, way)


def test_costs_of_a_factorised_embedding_are_those_of_two_matrices(toy, tmp_path):
    rows = {}
    for name, way in (("whole", []), ("product", PRODUCT), ("trimmed", TRIMMED)):
        out = tmp_path / f"{name}.tsv"
        measure_finetuning(
            model=toy / "bert", tokenizer=toy / "tokenizer", examples=toy / "single.parquet", out=out,
            settings=settings_of(way, steps=3),
        )  # fmt: skip
        rows[name] = read_tsv(out).iloc[0]
    whole, product, trimmed = rows["whole"], rows["product"], rows["trimmed"]
    size, width, rank = whole["vocabulary"], whole["width"], PRODUCT["rank"]
    assert whole["parameters"] - product["parameters"] == size * width - (size * rank + rank * width)
    assert product["moments"] == 2 * product["parameters"] and product["used"] == size
    assert product["pema_seconds"] > 0 < trimmed["pema_seconds"]
    assert whole["parameters"] - trimmed["parameters"] == (size - trimmed["used"]) * width > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partial": {"kind": "trimmed", "splits": ["validation"]}}, "must name the split train"),
        ({"partial": {"kind": "factorised", "rank": 0}}, "greater than or equal to 1"),
        ({"partial": PRODUCT, "kind": "text_to_text"}, "encoders with a head"),
        ({"partial": ["validation"]}, "must name the split train"),
        ({"partial": ["train", "test"]}, "neither trained on nor scored"),
        ({"partial": ["train"], "kind": "text_to_text"}, "encoders with a head"),
    ],
)
def test_settings_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValidationError, match=message):
        settings_of(**change)


def test_peak_memory_is_that_of_a_fresh_process(toy, tmp_path):
    # In the suite's own process earlier tests have left memory that is used again: nothing would be added to it.
    out = tmp_path / "row.tsv"
    files = {"model": toy / "bert", "tokenizer": toy / "tokenizer", "examples": toy / "single.parquet", "out": out}
    options = [part for name, path in files.items() for part in (f"--{name}", str(path))]
    settings = settings_of(["train"], steps=3).model_dump_json()
    stage = [sys.executable, "-m", "reprlab.stages.measure_finetuning", *options, "--settings", settings]
    subprocess.run(stage, check=True, capture_output=True)
    assert read_tsv(out).iloc[0]["peak_bytes"] > 0


def test_peak_memory_is_in_bytes(monkeypatch):
    """Linux says kilobytes, macOS bytes."""
    monkeypatch.setattr("resource.getrusage", lambda who: types.SimpleNamespace(ru_maxrss=7))
    for system, peak in (("linux", 7 * 1024), ("darwin", 7)):
        monkeypatch.setattr("sys.platform", system)
        assert finetuning_cost.peak_memory(torch.device("cpu")) == peak


def test_costs_are_measured_on_the_tensors(toy, tmp_path):
    rows = {}
    for name, partial in (("whole", []), ("partial", ["train"])):
        out, started = tmp_path / f"{name}.tsv", time.monotonic()
        measure_finetuning(
            model=toy / "bert", tokenizer=toy / "tokenizer", examples=toy / "single.parquet", out=out,
            settings=settings_of(partial, steps=3),
        )  # fmt: skip
        rows[name] = read_tsv(out).iloc[0]
        assert rows[name]["pema_seconds"] + rows[name]["train_seconds"] < time.monotonic() - started
    whole, partial = rows["whole"], rows["partial"]
    saved = (partial["vocabulary"] - partial["used"]) * partial["width"]
    assert saved > 0 and whole["used"] == whole["vocabulary"]
    assert whole["parameters"] - partial["parameters"] == saved
    assert whole["moments"] - partial["moments"] == 2 * saved and whole["moments"] == 2 * whole["parameters"]
    assert whole["pema_seconds"] == 0 < partial["pema_seconds"] and partial["train_seconds"] > 0
    assert partial["steps"] == 3
    assert not list(tmp_path.glob("resume-*")), "a timed run leaves nothing but its row"
    shutil.rmtree(tmp_path)


def test_a_model_adapted_for_another_trainer_comes_back_whole(toy, tmp_path):
    adapted, trained, whole = tmp_path / "adapted", tmp_path / "trained", tmp_path / "whole"
    settings = settings_of(["train", "validation"])
    adapt_stage(
        model=toy / "bert", tokenizer=toy / "tokenizer", examples=toy / "single.parquet", settings=settings, out=adapted
    )
    rows = read_parquet(adapted / "train.parquet").to_pylist()
    tokens = load_file(adapted / "vocabulary.safetensors")["selected"]
    tokenizer = AutoTokenizer.from_pretrained(toy / "tokenizer")
    texts = [row for row in read_parquet(toy / "single.parquet").to_pylist() if row["split"] == "train"]
    for row, example in zip(rows, texts, strict=True):
        assert tokens[row["input_ids"]].tolist() == tokenizer(example["text"])["input_ids"]
        assert str(row["labels"]) == example["label"]
    # Plain transformers and torch from here: two steps, and the model saved.
    model = AutoModelForSequenceClassification.from_pretrained(adapted / "model")
    assert model.config.vocab_size == len(tokens) == len(model.get_input_embeddings().weight)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0)
    for row in rows[:2]:
        model(torch.tensor([row["input_ids"]]), labels=torch.tensor([row["labels"]])).loss.backward()
        optimizer.step()
    model.eval().save_pretrained(trained)
    pema_restore(trained, adapted, toy / "bert", toy / "tokenizer", whole)
    again = AutoModelForSequenceClassification.from_pretrained(whole).eval()
    own = AutoTokenizer.from_pretrained(whole)
    for row, example in zip(rows, texts, strict=True):
        ids = own(example["text"], return_tensors="pt")["input_ids"]
        assert ids[0].tolist() == tokenizer(example["text"])["input_ids"]
        assert torch.equal(again(ids).logits, model(torch.tensor([row["input_ids"]])).logits)
    before = AutoModel.from_pretrained(toy / "bert").get_input_embeddings().weight
    same = (again.get_input_embeddings().weight == before).all(dim=1)
    assert not same[tokens].all() and same[[row for row in range(len(before)) if row not in set(tokens.tolist())]].all()


def test_a_kept_model_is_reduced_and_comes_back_with_its_scores(toy, tmp_path):
    settings = settings_of(["train", "validation"], weight_decay=0.1)
    plain = run(toy, tmp_path / "plain", settings)
    assert run(toy, tmp_path / "kept", settings.model_copy(update={"keep": True})) == plain
    (reduced,) = (tmp_path / "kept/models").iterdir()
    tokens = load_file(reduced / "vocabulary.safetensors")["selected"]
    assert len(AutoModelForSequenceClassification.from_pretrained(reduced).get_input_embeddings().weight) == len(tokens)
    whole = tmp_path / "whole"
    restore = {"original": toy / "bert", "tokenizer": toy / "tokenizer", "out": whole}
    restore_stage(trained=tmp_path / "kept/metrics.tsv", name=reduced.name, **restore)
    answers = json.loads(subprocess.check_output([sys.executable, "-c", ANSWER, whole, toy / "single.parquet"]))
    assert answers == {row["id"]: row["prediction"] for row in plain[1]}
    found = AutoModel.from_pretrained(whole).get_input_embeddings().weight
    before = AutoModel.from_pretrained(toy / "bert").get_input_embeddings().weight
    others = [row for row in range(len(before)) if row not in set(tokens.tolist())]
    assert others and torch.equal(found[others], before[others]) and not torch.equal(found[tokens], before[tokens])


def test_a_model_that_was_not_kept_is_asked_for_in_one_line(toy, tmp_path):
    run(toy, tmp_path, settings_of(["train"], steps=1))
    with pytest.raises(ReprlabError, match="run again with keep_finetuned=true"):
        restore_stage(
            trained=tmp_path / "metrics.tsv", name="bert.lr-0.003", original=toy / "bert",
            tokenizer=toy / "tokenizer", out=tmp_path / "whole",
        )  # fmt: skip
    shutil.copytree(toy / "bert", tmp_path / "models/bert.lr-0.003")
    with pytest.raises(ReprlabError, match=r"vocabulary\.safetensors: not a readable vocabulary"):
        restore_stage(
            trained=tmp_path / "metrics.tsv", name="bert.lr-0.003", original=toy / "bert",
            tokenizer=toy / "tokenizer", out=tmp_path / "whole",
        )  # fmt: skip
    assert not (tmp_path / "whole").exists()


def test_adapting_needs_the_splits_whose_tokens_count(toy, tmp_path):
    with pytest.raises(ReprlabError, match="names no split"):
        pema_adapt(toy / "bert", toy / "tokenizer", toy / "single.parquet", settings_of([]), tmp_path / "adapted")
    assert not list(tmp_path.iterdir())


def test_a_system_that_does_not_say_holds_nothing(monkeypatch):
    assert finetuning_cost._memory_now() > 2**20
    monkeypatch.setattr(finetuning_cost, "Path", lambda _: Path("/nowhere"))
    assert finetuning_cost._memory_now() == 0
