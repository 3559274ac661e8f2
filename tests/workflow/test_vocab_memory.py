"""vocab-memory at nano: from nothing to its tables, the same scores with and without PEMA, reruns, models as files."""

import csv
import json
import subprocess
import sys

import pytest
import torch
from reprlab.artifacts.tables import read_parquet
from reprlab.config.load import load_config
from safetensors.torch import load_file

from tests.checkouts import ROOT, private_copy
from tests.nano import all_edits
from tests.plans import rerun_counts

SLUG = "vocab-memory"
pytestmark = pytest.mark.reads(SLUG)
TABLES = {"gather_results", "tabulate_paper", "compare_published", "test_claims", "plot_figure"}
TRAINING = {"finetune_model", "measure_finetuning", "estimate_cost"}
EDITS = {
    "nothing": ("papers.vocab-memory.finetuning.optimizer.weight_decay=0.0", set()),
    "weight decay": ("papers.vocab-memory.finetuning.optimizer.weight_decay=0.01", TRAINING | TABLES),
    "splits that keep their rows": ("papers.vocab-memory.finetuning.partial_splits=[train]", TRAINING | TABLES),
    "steps of the timed runs": (
        "papers.vocab-memory.runtime_table.steps=3",
        {"measure_finetuning", "estimate_cost"} | TABLES,
    ),
    "length that counts": ("papers.vocab-memory.counting.max_length=64", {"count_tokens", "unite_counts"} | TABLES),
    "the union beside the paper's numbers": (
        "papers.vocab-memory.counting.compared=[train]",
        {"unite_counts"} | TABLES,
    ),
}


def rows(path):
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def test_scores_do_not_differ_and_memory_does(made):
    results = made.nano / "results" / "vocab-memory"
    scores = [row for row in rows(results / "table10_glue.tsv") if row["pema"]]
    assert [row["pema"] for row in scores] == ["no", "yes", "trimmed", "factorised"]
    assert scores[0]["cola"] == scores[1]["cola"] != ""
    (row,) = rows(results / "table9_runtime.tsv")
    saved = 2 * (int(row["vocabulary"]) - int(row["used"])) * int(row["width"])
    assert int(row["moments_whole"]) - int(row["moments"]) == saved > 0
    costs = rows(results / "cost.tsv")
    assert {row["scale"] for row in costs} == {"paper", "nano"}
    assert all(float(row["ratio"]) > 0 for row in costs if row["scale"] == "nano" and row["stage"] in TRAINING)
    assert (results / "fig_memory.png").stat().st_size and (results / "fig_memory.svg").stat().st_size


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_what_it_touches_and_nothing_else(name):
    edit, expected = EDITS[name]
    assert set(rerun_counts(SLUG, "", edit)) == expected


# What a process that knows nothing but transformers makes of a model's folder: the labels of examples.
ANSWER = """
import json, sys, pyarrow.parquet as parquet
from transformers import AutoModelForSequenceClassification, AutoTokenizer
folder, table, *labels = sys.argv[1:]
model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
tokenizer = AutoTokenizer.from_pretrained(folder)
answers, wanted = {}, set(json.load(sys.stdin))
for row in parquet.read_table(table).to_pylist():
    if row["split"] == "validation" and row["id"] in wanted:
        logits = model(**tokenizer(row["text"], return_tensors="pt")).logits
        answers[row["id"]] = labels[logits.argmax().item()]
print(json.dumps(answers))
"""


@pytest.mark.release
def test_a_kept_model_comes_back_whole_and_a_reduced_one_is_made_when_asked_for(made, tmp_path):
    """In a copy, because it makes the scores again with another setting."""
    made = private_copy(made, tmp_path / "project")
    shared, key = made.nano / "results/shared", "vocab_memory_minilm_l6/cola"
    finetuned, restored = shared / f"finetuned/{key}/pema.s1", shared / f"restored/{key}/pema.s1"
    before = (finetuned / "metrics.tsv").read_bytes()
    targets = [path.relative_to(made.nano).as_posix() for path in (restored, shared / f"pema/{key}")]
    config = ("scale=nano", "keep_finetuned=true", f"set={all_edits()}")
    made.run("--cores", "1", "--config", *config, "--", *targets)
    assert (finetuned / "metrics.tsv").read_bytes() == before
    predictions = read_parquet(finetuned / "predictions.parquet").to_pylist()
    labels = load_config(ROOT, {"scale": "nano"}).datasets.tasks["subject_verb_agreement"].labels
    command = [
        sys.executable,
        "-c",
        ANSWER,
        restored,
        shared / "tasks/subject_verb_agreement/examples.parquet",
        *labels,
    ]
    reported = {row["id"]: row["prediction"] for row in predictions}
    assert reported and json.loads(subprocess.check_output(command, input=json.dumps([*reported]).encode())) == reported
    # Row by row: the trained ones where the data uses them, those of the beginning elsewhere.
    (reduced,) = (finetuned / "models").iterdir()
    selected = load_file(reduced / "vocabulary.safetensors")["selected"]
    trained, start, whole = (embedding(folder) for folder in (reduced, shared / "models/minilm_l6", restored))
    expected = start.clone()
    expected[selected] = trained
    assert torch.equal(whole, expected) and not torch.equal(start[selected], trained)
    adapted = load_file(shared / f"pema/{key}/vocabulary.safetensors")["selected"]
    assert torch.equal(adapted, selected)


def embedding(folder):
    """The matrix of a model folder [V, d]."""
    stored = load_file(folder / "model.safetensors")
    return next(matrix for name, matrix in stored.items() if name.endswith("word_embeddings.weight"))
