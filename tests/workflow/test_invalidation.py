"""Each edit of settings, registry or code of DEPTH, and the exact set of stages that must run again."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.planning import planned_jobs
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.reruns import reruns
from reprlab.planning.run_plan import RunPlan
from reprlab.runtime import code_digest

from tests.checkouts import copy_project
from tests.plans import rerun_jobs

TABLES = {
    "gather_results",
    "tabulate_paper",
    "compare_published",
    "test_claims",
    "estimate_cost",
    "plot_figure",
    "write_report",
}
FINETUNING = {"finetune_model", "select_learning_rate", "sample_predictions"} | TABLES
TRAINING = {"pretrain_lm", "evaluate_lm"} | FINETUNING
# What an edit of the corruption reaches: training, and the examples that show it.
CORRUPTION = {"preview_corruption"} | TRAINING
TOKENS = {"tokenize_corpus"} | CORRUPTION
TEXT = {"segment_documents", "train_tokenizer", "build_model", "build_examples", "evaluate_baselines"} | TOKENS
_DEPTH = "papers.depth"
SETTINGS = {
    "nothing": ("", set()),
    "fine-tuning learning rate": (f"{_DEPTH}.finetuning.learning_rates=[2e-3]", FINETUNING),
    "one task's template": (f"{_DEPTH}.finetuning.tasks.sst2.template=review {{text}}", FINETUNING),
    "one task's learning rates": (f"{_DEPTH}.finetuning.tasks.cola.learning_rates=[1e-3]", FINETUNING),
    "mask probability": (f"{_DEPTH}.corruption.mask_probability=0.2", CORRUPTION),
    "sentence-loss weight": (f"{_DEPTH}.loss.sentence_weight=2.0", CORRUPTION),
    "number of checkpoints": (f"{_DEPTH}.pretraining.runs.fs.ladder=[2,4,6,8]", TRAINING),
    "passage length": (f"{_DEPTH}.segmentation.passage_words=30", TEXT),
    "seed of the sample for annotation": (f"{_DEPTH}.error_sample.seed=1", {"sample_predictions", "write_report"}),
    "log level": ("runtime.log_level=debug", set()),
    "batch of inference": ("runtime.inference_batch=7", set()),
    "loader workers": ("runtime.dataloader_workers=1", set()),
    "steps between resume points": ("runtime.save_every=3", set()),
    "parts of a training batch": ("runtime.accumulation=4", set()),
    "blocks computed again": ("runtime.activation_checkpointing=true", set()),
    "threads": ("threads.default=1", set()),
}
# File of the checkout, pattern, replacement and stages.
FILES = {
    "split seed of a data set": (
        "config/datasets.yaml",
        r"(  movie_snippets:.*?splits: \{seed: )0",
        r"\g<1>1",
        {"build_examples", "evaluate_baselines"} | FINETUNING,
    ),
    "published values": (
        "resources/published/depth/glue.tsv",
        r"\Z",
        "\n",
        {"compare_published", "audit_paper", "plot_figure", "write_report"},
    ),
    "docstring of an imported module": (
        "workflow/reprlab/training/engine.py",
        '"""The training loop',
        '"""The loop of training',
        set(),
    ),
    "comment in an imported module": (
        "workflow/reprlab/training/engine.py",
        "\nfrom __future__",
        "\n# A remark.\nfrom __future__",
        set(),
    ),
    "function body in an imported module": (
        "workflow/reprlab/training/engine.py",
        "_SEED_STRIDE = 1_000_003",
        "_SEED_STRIDE = 1_000_033",
        TRAINING,
    ),
    "function body in a module of the text stages": (
        "workflow/reprlab/text/segmentation.py",
        "words = 0\n",
        "words = 0 + 0\n",
        TEXT,
    ),
    "function body in a module that is not imported": (
        "workflow/reprlab/data/readers/brown.py",
        "\n\n\n",
        "\n\n\n_UNUSED_BY_THIS_RUN = 1\n\n\n",
        set(),
    ),
    "one objective": (
        "workflow/reprlab/objectives/t5.py",
        "        vocabulary, ids = self.vocabulary, rows.ids\n",
        "        vocabulary, ids = self.vocabulary, rows.ids  # same\n        self.edited = True\n",
        CORRUPTION,
    ),
    "the command line of stages": (
        "workflow/reprlab/runtime/cli.py",
        '"""The command line of a stage',
        '"""A command line',
        set(),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_an_edited_setting_reruns_exactly_what_it_touches(name: str) -> None:
    edit, expected = SETTINGS[name]
    assert {stage for stage, _ in rerun_jobs("depth", "", edit, "all")} == expected


def test_one_template_reruns_the_jobs_of_its_task_alone() -> None:
    edit = f"{_DEPTH}.finetuning.tasks.sst2.template=review {{text}}"
    tuned = {key for stage, key in rerun_jobs("depth", "", edit, "results/depth/glue.tsv") if stage == "finetune_model"}
    assert tuned and all("/sst2/" in key for key in tuned), tuned


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A copy of the project, whose files may be edited if they are mended."""
    return copy_project(tmp_path_factory.mktemp("invalidation") / "project").root


@pytest.fixture
def plan_there(root, monkeypatch) -> Iterator:
    """Plans the copy as its files are: its registries, its published values, the digests of its code."""
    monkeypatch.setattr(code_digest, "ROOT", root / "workflow/reprlab")
    caches = (code_digest._read, code_digest._is_there, planned_jobs._code, planned_jobs._digest)

    def plan() -> RunPlan:
        for cache in caches:
            cache.cache_clear()
        config = load_config(root, {"scale": "nano", "build": ["depth"]})
        return RunPlan(make_plan(replace(config, papers={"depth": config.papers["depth"]})), root)

    yield plan
    for cache in caches:
        cache.cache_clear()


def _stages_after(plan_there, file: Path, text: str) -> list[tuple[str, str]]:
    """The jobs that run after a file of the copy got another text, which is taken back."""
    before, whole = plan_there(), file.read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    try:
        return reruns(before, plan_there(), ["all"])
    finally:
        file.write_text(whole, encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_an_edited_file_reruns_exactly_what_it_touches(root, plan_there, name: str) -> None:
    place, pattern, replacement, expected = FILES[name]
    text, count = re.subn(pattern, replacement, (root / place).read_text(encoding="utf-8"), count=1, flags=re.S)
    assert count == 1, f"{place} has no {pattern!r}"
    assert {stage for stage, _ in _stages_after(plan_there, root / place, text)} == expected


def test_only_the_edited_objective_trains_again(root, plan_there) -> None:
    """DEPTH's own module: its runs train again, T5's from scratch do not."""
    file = root / "workflow/reprlab/objectives/depth.py"
    jobs = _stages_after(plan_there, file, file.read_text(encoding="utf-8") + "\n\nEDITED = True\n")
    trained = {key for stage, key in jobs if stage == "pretrain_lm"}
    assert trained and all("_depth_" in key for key in trained), trained
