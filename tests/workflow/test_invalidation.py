"""Each edit of config or code, and the exact set of rules that must run again."""

import re
from pathlib import Path

import pytest

TABLES = {
    "gather_results",
    "tabulate_paper",
    "compare_published",
    "test_claims",
    "estimate_cost",
    "plot_figure",
    "write_report",
    "all",
}
FINETUNING = {"finetune_model", "select_learning_rate", "sample_predictions"} | TABLES
TRAINING = {"pretrain_lm", "evaluate_lm"} | FINETUNING
# What an edit of the corruption reaches: training, and the examples that show it.
CORRUPTION = {"preview_corruption"} | TRAINING
TOKENS = {"tokenize_corpus"} | CORRUPTION


def setting(key, value):
    """An edit by the command line."""
    return [f"set={key}={value}"], lambda root: None


def source(path, old, new):
    """An edit of a module of the package."""

    def edit(root: Path) -> None:
        file = root / "workflow/reprlab" / path
        text = file.read_text()
        assert text.count(old) >= 1, f"{path} has no {old!r}"
        file.write_text(text.replace(old, new, 1))

    return [], edit


def registry(pattern, replacement):
    """An edit of datasets.yaml."""

    def edit(root: Path) -> None:
        file = root / "config/datasets.yaml"
        text, count = re.subn(pattern, replacement, file.read_text(), count=1, flags=re.S)
        assert count == 1, f"datasets.yaml has no {pattern!r}"
        file.write_text(text)

    return [], edit


EDITS = {
    "nothing": (([], lambda root: None), set()),
    "fine-tuning learning rate": (setting("papers.depth.finetuning.learning_rates", "[2e-3]"), FINETUNING),
    "one task's template": (
        setting("papers.depth.finetuning.tasks.sst2.template", "review {text}"),
        FINETUNING,
    ),
    "one task's learning rates": (setting("papers.depth.finetuning.tasks.cola.learning_rates", "[1e-3]"), FINETUNING),
    "split seed of a data set": (
        registry(r"(  movie_snippets:.*?splits: \{seed: )0", r"\g<1>1"),
        {"build_examples", "evaluate_baselines"} | FINETUNING,
    ),
    "mask probability": (setting("papers.depth.corruption.mask_probability", "0.2"), CORRUPTION),
    "sentence-loss weight": (setting("papers.depth.loss.sentence_weight", "2.0"), CORRUPTION),
    "number of checkpoints": (setting("papers.depth.pretraining.runs.fs.ladder", "[2,4,6,8]"), TRAINING),
    "passage length": (
        setting("papers.depth.segmentation.passage_words", "30"),
        {"segment_documents", "train_tokenizer", "build_model", "build_examples", "evaluate_baselines"} | TOKENS,
    ),
    "published values": (
        ([], lambda root: _touch_published(root)),
        {"compare_published", "audit_paper", "plot_figure", "write_report", "all"},
    ),
    "seed of the sample for annotation": (
        setting("papers.depth.error_sample.seed", "1"),
        {"sample_predictions", "write_report", "all"},
    ),
    "log level": (setting("runtime.log_level", "debug"), set()),
    "batch of inference": (setting("runtime.inference_batch", "7"), set()),
    "loader workers": (setting("runtime.dataloader_workers", "1"), set()),
    "steps between resume points": (setting("runtime.save_every", "3"), set()),
    "threads": (setting("threads.default", "1"), set()),
    "docstring of an imported module": (
        source("training/engine.py", '"""The training loop', '"""The loop of training'),
        set(),
    ),
    "comment in an imported module": (
        source("training/engine.py", "\nfrom __future__", "\n# A remark.\nfrom __future__"),
        set(),
    ),
    "function body in an imported module": (
        source("training/engine.py", "_SEED_STRIDE = 1_000_003", "_SEED_STRIDE = 1_000_033"),
        TRAINING,
    ),
    "function body in a module of the text stages": (
        source("text/segmentation.py", "words = 0\n", "words = 0 + 0\n"),
        {"segment_documents", "train_tokenizer", "build_model", "build_examples", "evaluate_baselines"} | TOKENS,
    ),
    "function body in a module that is not imported": (
        source("data/readers/brown.py", "\n\n\n", "\n\n\n_UNUSED_BY_THIS_RUN = 1\n\n\n"),
        set(),
    ),
    "one objective": (
        source(
            "objectives/t5.py",
            "        vocabulary, ids = self.vocabulary, rows.ids\n",
            "        vocabulary, ids = self.vocabulary, rows.ids  # same\n        self.edited = True\n",
        ),
        CORRUPTION,
    ),
    "the command line of stages": (
        source("runtime/cli.py", '"""The command line of a stage', '"""A command line'),
        set(),
    ),
}


def _touch_published(root: Path) -> None:
    path = root / "resources/published/depth/glue.tsv"
    path.write_text(path.read_text() + "\n")


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_reruns_exactly_what_it_touches(finished_copy, name):
    (config, edit), expected = EDITS[name]
    edit(finished_copy.root)
    planned = set(finished_copy.planned("all", config=tuple(config)))
    if expected and "all" not in expected:
        expected = expected | {"all"}
    assert planned == expected


def test_only_the_edited_objective_trains_again(finished_copy):
    """DEPTH's own module: its runs train again, T5's from scratch do not."""
    file = finished_copy.root / "workflow/reprlab/objectives/depth.py"
    file.write_text(file.read_text() + "\n\nEDITED = True\n")
    done = finished_copy.run("--dry-run", "--cores", "2", "--config", "scale=nano", "--", "all")
    trained = set(re.findall(r"Pre-train (\w+)", done.stdout + done.stderr))
    assert trained and all("_depth_" in name for name in trained), trained


def test_one_template_reruns_the_jobs_of_its_task_alone(finished_copy):
    done = finished_copy.run(
        "--dry-run", "--cores", "2",
        "--config", "scale=nano", "set=papers.depth.finetuning.tasks.sst2.template=review {text}",
        "--", "results/depth/glue.tsv",
    )  # fmt: skip
    tasks = set(re.findall(r"Fine-tune \w+ on (\w+)", done.stdout + done.stderr))
    assert tasks == {"sst2"}
