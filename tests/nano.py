"""One run of all papers at `nano`, which every test that reads results of `nano` shares.

It starts in the background with the first test of the session and makes what the selected tests read. A test asks for
it by the fixture `made`; a file says by `pytest.mark.reads` what it reads.
"""

import importlib.util
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock
from reprlab.config.papers import NEIGHBOURS, SLUGS

from tests.checkouts import Checkout, copy_project, shared_folder
from tests.plans import plan_of

# What clients of services read; no file may hold it. Put together here, so that the copies of this file do not.
SECRET = "-".join(["sk", "planted", "7f3a9c51e2"])
KEYS = dict.fromkeys(("OPENAI_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY"), SECRET)

# The audio extra is built with a C compiler; where it is not installed one paper cannot be made.
HEARS = importlib.util.find_spec("madmom") is not None
MADE = [slug for slug in SLUGS if HEARS or slug != "music-video-description"]
needs_audio = pytest.mark.skipif(not HEARS, reason="the audio extra is not installed")


def holders_of_the_secret(root: Path) -> list[str]:
    """Files below a folder that hold the key."""
    files = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return [str(path.relative_to(root)) for path in files if SECRET.encode() in path.read_bytes()]


@dataclass(frozen=True)
class Part:
    """What the run makes of a paper: settings that make it smaller, and the targets."""

    edits: str = ""
    targets: tuple[str, ...] = ()


def _edits(slug: str, *edits: str) -> str:
    return "; ".join(f"papers.{slug}.{edit}" for edit in edits)


# A paper that is not here is made with its own settings, up to its first table.
PARTS = {
    "depth": Part(
        targets=("results/depth/loss_fs.tsv", "results/shared/finetuned/depth_t5_all/sst2/s2137.selected.json")
    ),
    "vocab-memory": Part(
        targets=(
            *(f"results/vocab-memory/{name}.tsv" for name in ("table10_glue", "table9_runtime", "cost")),
            *(f"results/vocab-memory/{name}.png" for name in ("fig2_vocab_trend", "fig_memory")),
            # What the table of neighbours reads.
            "results/vocab-memory/results.parquet",
        )
    ),
    "amuro-char": Part(
        targets=(
            *(
                f"results/shared/scored/ladder/{part}/scores.tsv"
                for part in ("base/all", "paws/all", "paws/lore_adapt")
            ),
            "results/shared/tuned/ladder/xsum/all/metrics.tsv",
            # What the table of neighbours reads.
            "results/amuro-char/results.parquet",
        )
    ),
    "intrinsic-dimension": Part(
        targets=(
            *(
                f"results/intrinsic-dimension/{name}.tsv"
                for name in (
                    "id_layers",
                    "icl_unique",
                    "auc",
                    "accuracy",
                    "precision",
                    "seeds",
                    "token_geometry",
                    "cost",
                )
            ),
            "results/intrinsic-dimension/id_layers.png",
        )
    ),
    "event-relations": Part(
        _edits("event-relations", "seeds=[0]"),
        tuple(f"results/event-relations/{name}.tsv" for name in ("table4", "seconds")),
    ),
    "overparameterized-encoders": Part(
        _edits("overparameterized-encoders", "compared=[llama_deep]", "backbones.llama_deep.depths=[p00, small]"),
        (*(f"results/overparameterized-encoders/{name}.tsv" for name in ("table1", "published")), NEIGHBOURS),
    ),
    "ssm-rerankers": Part(
        _edits("ssm-rerankers", "compared=[mamba2_nano]"), ("results/ssm-rerankers/table2.tsv", NEIGHBOURS)
    ),
    "prompt-tuning-encoders": Part(
        _edits("prompt-tuning-encoders", "compared=[lm]", "warm_start.text.corpus=squad_text"),
        (
            "results/prompt-tuning-encoders/table1.tsv",
            # After MNTP, with adapters: its decoder is not the one that the others start from.
            "results/shared/sentence_transformers/lm/prompt_tuning_lora_bi_1_seed_0",
            NEIGHBOURS,
        ),
    ),
    "domain-adaptive-masking": Part(
        _edits(
            "domain-adaptive-masking",
            "maskings=[concept]",
            "pretraining.seeds=[0]",
            "warm_start.text.corpus=squad_text",
        ),
        # The last is what the table of neighbours reads.
        tuple(
            f"results/domain-adaptive-masking/{name}" for name in ("pretrain_loss.tsv", "replay.tsv", "results.parquet")
        ),
    ),
    "punctuation-restoration": Part(
        _edits("punctuation-restoration", "finetuning.seeds=[0]", "inits=[t5, pr]"),
        tuple(f"results/punctuation-restoration/{name}.tsv" for name in ("table1", "table6")),
    ),
    "universal-features": Part(
        targets=(*(f"results/universal-features/{name}.tsv" for name in ("flow_controls", "merging_ways")), NEIGHBOURS),
    ),
    "music-video-description": Part(
        targets=tuple(
            f"results/music-video-description/{name}"
            for name in ("table1.tsv", "feature_accuracy.tsv", "examples", "results.parquet")
        ),
    ),
    "reverse-probing": Part(
        _edits("reverse-probing", "singles=[bert, coref]", "cells.single=[mean_full, attention_full]"),
        tuple(f"results/reverse-probing/{name}.tsv" for name in ("table1", "sources")),
    ),
    "asr-adapters": Part(
        targets=tuple(
            f"results/asr-adapters/{name}"
            for name in ("ablation_norm.tsv", "controls.tsv", "fig_curves.png", "results.parquet")
        ),
    ),
}


def part_of(slug: str) -> Part:
    """What the run makes of a paper."""
    if slug in PARTS:
        return PARTS[slug]
    tables = [path for path in plan_of(slug).targets[slug] if path.endswith(".tsv")]
    return Part(targets=(tables[0],))


def all_edits() -> str:
    """The settings of the run, as `--config set=` takes them."""
    return "; ".join(part_of(slug).edits for slug in MADE if part_of(slug).edits)


def _papers_read(items: list[pytest.Item]) -> list[str]:
    """The papers whose part the selected tests read, in the order of the report."""
    read = {slug for item in items if uses_nano(item) for mark in item.iter_markers("reads") for slug in mark.args}
    return [slug for slug in MADE if slug in read]


def uses_nano(item: pytest.Item) -> bool:
    """Whether a test reads results of the shared run."""
    return "made" in getattr(item, "fixturenames", ())


class SharedRun:
    """The run in its folder; the first worker that asks for it starts it."""

    def __init__(self, folder: Path, slugs: list[str]) -> None:
        self.checkout = Checkout(folder / "nano")
        self.slugs = slugs
        self.output, self.status, self._lock = (folder / f"nano.{name}" for name in ("output", "status", "lock"))

    def start(self) -> subprocess.Popen | None:
        """The engine, where no worker has started it before."""
        with FileLock(self._lock):
            if self.output.exists():
                return None
            copy_project(self.checkout.root, build=", ".join(self.slugs))
            targets = [target for slug in self.slugs for target in part_of(slug).targets]
            command = self.checkout.command(
                "--cores", "2", "--keep-going", "--config", "scale=nano", f"set={all_edits()}", "--", *targets
            )
            # The status is written by a shell, for this worker may be done before the run is.
            with self.output.open("wb") as output:
                return subprocess.Popen(
                    ["sh", "-c", '"$@"; echo $? > "$0"', str(self.status), *command],
                    cwd=self.checkout.root, env=self.checkout.environment(**KEYS),
                    stdout=output, stderr=subprocess.STDOUT,
                )  # fmt: skip

    def wait(self, seconds: float = 1500) -> Checkout:
        """The checkout, when the run has ended well."""
        end = time.monotonic() + seconds
        while not self.status.exists() or not self.status.read_text().strip():
            assert time.monotonic() < end, f"the run at nano takes too long:\n{self.output.read_text()[-3000:]}"
            time.sleep(0.2)
        assert self.status.read_text().strip() == "0", self.output.read_text(errors="replace")[-8000:]
        return self.checkout


@pytest.fixture(scope="session", autouse=True)
def _nano_in_background(request, tmp_path_factory):
    """The shared run, started where a selected test reads it."""
    slugs = _papers_read(request.session.items)
    if not slugs:
        yield None
        return
    shared = SharedRun(shared_folder(tmp_path_factory), slugs)
    engine = shared.start()
    yield shared
    if engine is not None:
        # Another worker may still read it; whoever interrupted the tests has interrupted it, too.
        engine.wait()


@pytest.fixture(scope="session")
def made(_nano_in_background) -> Checkout:
    """The checkout of the shared run. Never edit it, and start nothing in it but dry runs."""
    return _nano_in_background.wait()
