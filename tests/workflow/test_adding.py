"""The worked examples of docs/adding.md, applied block by block to a copy of the project."""

import hashlib
import json
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from reprlab.scaffold.blocks import Block, Texts, blocks_of

from tests.checkouts import Checkout, job_counts

ROOT = Path(__file__).resolve().parents[2]
_ZEROS = "0" * 64


def run_commands(checkout: Checkout, text: str) -> list[str]:
    """Run each line as a user would; returns what each printed."""
    printed = []
    for line in text.splitlines():
        program, *arguments = shlex.split(line)
        if program == "snakemake":
            # A cache of its own: the downloads of the project hold no file of a test.
            done = checkout.run(*arguments, REPRLAB_CACHE=str(checkout.root / "downloads"))
        else:
            assert program == "python", line
            done = subprocess.run(
                [sys.executable, *arguments],
                cwd=checkout.root,
                env=checkout.environment(PYTHONPATH=str(checkout.root / "workflow")),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
        printed.append(done.stdout + done.stderr)
    return printed


def follow(checkout: Checkout, title: str, edit=lambda text: text) -> list[str]:
    """Apply a section to the copy; returns what its commands printed. `edit` fills in what the reader must."""
    printed = []
    texts = Texts(checkout.root)
    blocks = list(blocks_of(ROOT, title))
    assert blocks, f"docs/adding.md: section {title!r} has no marked block"
    for block in blocks:
        if "check" in block.options:
            texts.write()
            printed += run_commands(checkout, block.text)
            texts = Texts(checkout.root)
        else:
            texts.apply(Block(block.language, block.options, edit(block.text)))
    return printed


def in_copy(checkout: Checkout, code: str) -> str:
    """Run Python with the copy's package."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout.root,
        env=checkout.environment(PYTHONPATH=str(checkout.root / "workflow"), OMP_NUM_THREADS="1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def own_file(path: Path):
    """The reader's part: path, digest and size of a file of one's own."""
    digest, size = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size

    def edit(text: str) -> str:
        text = re.sub(rf"local:/data/{re.escape(path.name)}", f"local:{path}", text)
        return text.replace(_ZEROS, digest).replace("bytes: 1\n", f"bytes: {size}\n")

    return edit


@pytest.mark.release
def test_a_model(checkout):
    (printed,) = follow(checkout, "A model")
    assert "Build the model t5_mini_deep_s2137" in printed
    assert job_counts(printed)["pretrain_lm"] == 2


def packed_letters(folder: Path, sentence: str) -> Path:
    """Thirty documents, packed as the section says."""
    path = folder / "letters.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letters.txt", "".join(f"Letter {number}. {sentence}\n" for number in range(30)))
    return path


@pytest.mark.release
def test_a_corpus(checkout, tmp_path):
    letters = packed_letters(tmp_path, "The weather was fine, and then it rained.")
    _, planned = follow(checkout, "A corpus of your own", own_file(letters))
    counts = job_counts(planned)
    assert {"segment_documents", "train_tokenizer", "pretrain_lm"} <= set(counts)
    assert "build_documents" not in counts, "the first command has made them"
    rows = json.loads(
        in_copy(
            checkout,
            "import json, pyarrow.parquet as p;"
            "print(json.dumps(p.read_table('results/shared/corpora/letters/documents.parquet').to_pylist()))",
        )
    )
    assert len(rows) == 30 and {row["split"] for row in rows} == {"train", "validation", "test"}


@pytest.mark.release
def test_a_file_with_another_digest_is_refused(checkout, tmp_path):
    edit = own_file(packed_letters(tmp_path, "The weather was fine."))
    packed_letters(tmp_path, "Other bytes.")
    with pytest.raises(AssertionError, match="letters"):
        follow(checkout, "A corpus of your own", edit)
    assert not (checkout.root / "results/shared/corpora/letters/documents.parquet").exists()


@pytest.mark.release
def test_a_reader(checkout, tmp_path):
    lines = [f"{group}-{number}\t{label}\tText {group} {number}.\n"
             for group in range(20) for number, label in enumerate(("negative", "positive"))]  # fmt: skip
    (tmp_path / "reviews.tsv").write_text("".join(lines))
    follow(checkout, "A task with a reader of your own", own_file(tmp_path / "reviews.tsv"))
    rows = json.loads(
        in_copy(
            checkout,
            "import json, pyarrow.parquet as p;"
            "print(json.dumps(p.read_table('results/shared/tasks/reviews/examples.parquet').to_pylist()))",
        )
    )
    assert len(rows) == 40 and {row["label"] for row in rows} == {"negative", "positive"}
    split_of = {}
    for row in rows:
        assert split_of.setdefault(row["group"], row["split"]) == row["split"]


@pytest.mark.release
def test_a_finetuning_task(checkout):
    (printed,) = follow(checkout, "A fine-tuning task")
    assert "on nyt (" in printed and "Read the examples of nyt_snippets" in printed
    columns = in_copy(
        checkout,
        "from pathlib import Path; import yaml\n"
        "from reprlab.config.load import load_config; from reprlab.planning.paper_plans import make_plan; import json\n"
        "plan = make_plan(load_config(Path('.'), yaml.safe_load(open('nyt.yaml'))))\n"
        "part = json.loads(plan.job('tabulate_paper', 'depth/glue').settings['gather'])\n"
        "print([entry['factors'].get('column') for entry in part['entries']])",
    )
    assert "'cola'" in columns and "'nyt'" in columns


@pytest.mark.release
def test_an_objective(checkout):
    digest = "from reprlab.runtime.code_digest import code_digest as d; print(d('pretrain_lm', 'objectives.t5'))"
    before = in_copy(checkout, digest)
    _, printed = follow(checkout, "An objective")
    assert "Pre-train depth_prefix_lm_fs_s2137" in printed
    assert in_copy(checkout, digest) == before, "T5 would train again"
    in_copy(
        checkout,
        """
import numpy as np
from reprlab.objectives.prefix_lm import Objective, Settings
from reprlab.text.vocabulary import Vocabulary

objective = Objective(Settings(), Vocabulary(1000), 200, 200)
rng = np.random.default_rng(0)
lengths = np.array([2, 5, 180])
ids = np.where(np.arange(180) < lengths[:, None], rng.integers(3, 1000, (3, 180)), 0).astype(np.int32)
ids[np.arange(3), lengths - 1] = 1
batch = objective.collate(ids, np.zeros_like(ids), lengths, rng)
for row, length in enumerate(lengths):
    prefix = batch["encoder_ids"][row][batch["encoder_ids"][row] != 0]
    rest = batch["labels"][row][batch["labels"][row] != -100]
    assert len(prefix) and len(rest)
    assert np.concatenate([prefix, rest]).tolist() == ids[row, :length].tolist()
    assert batch["decoder_ids"][row, 0] == 0
""",
    )


def test_a_paper(checkout):
    *_, printed = follow(checkout, "A paper")
    counts = job_counts(printed)
    assert counts["evaluate_baselines"] == 2 and counts["tabulate_paper"] == 1 and counts["compare_published"] == 1
    assert "pretrain_lm" not in counts
    assert "evaluation_examples: null" in (checkout.root / "config/papers/sentiment.yaml").read_text()
    in_copy(
        checkout,
        """
from pathlib import Path
import pandas
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.papers.sentiment.results import RESULTS
from reprlab.reporting.published import read_published
from reprlab.results.comparison import compare, declarations
from reprlab.results.frame import read_frame, write_results
from reprlab.results.sources import GatherSettings

job = make_plan(load_config(Path("."), {"scale": "nano", "build": ["sentiment"]})).job("gather_results", "sentiment")
for path in map(Path, job.inputs["inputs"]):
    path.parent.mkdir(parents=True)
    scores = {"name": ["majority", "tfidf"], "split": "validation", "metric": "accuracy", "value": [50.0, 70.0]}
    pandas.DataFrame({**scores, "low": 1.0, "high": 99.0, "n": 50}).to_csv(path, sep="\\t", index=False)
write_results(Path("results.parquet"), GatherSettings.model_validate_json(job.settings["settings"]))
frame = read_frame(Path("results.parquet"))
table = RESULTS.table("table1").make(frame)
assert len(table) == 4 and set(table["scale"]) == {"nano"}
published = read_published([Path("resources/published/sentiment/table1.tsv")], declarations(RESULTS.printed))
compared = compare(RESULTS.own(frame), published, RESULTS.printed)
assert compared["ours"].tolist() == ["70.0"] and compared["published"].tolist() == ["71.2"]
""",
    )


@pytest.mark.release
def test_a_stage(checkout):
    (printed,) = follow(checkout, "A stage")
    assert "Count the classes of movie_snippets" in printed
    assert set(job_counts(printed)) == {"fetch_archive", "build_examples", "count_classes"}
    in_copy(
        checkout,
        """
from pathlib import Path
import pyarrow, pyarrow.parquet
from reprlab.stages.count_classes import count_classes

rows = {"split": ["train", "train", "test"], "label": ["good", "good", "bad"]}
pyarrow.parquet.write_table(pyarrow.table(rows), "examples.parquet")
count_classes(examples=Path("examples.parquet"), out=Path("classes.tsv"))
assert Path("classes.tsv").read_text() == "split\\tclass\\tn\\ntest\\tbad\\t1\\ntrain\\tgood\\t2\\n"
""",
    )


def test_a_paper_takes_fewer_than_eighty_lines():
    lines = [line for block in blocks_of(ROOT, "A paper") for line in block.text.splitlines()]
    assert len(lines) < 80


def scaffold(checkout, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "reprlab.scaffold", *arguments],
        cwd=checkout.root,
        env=checkout.environment(PYTHONPATH=str(checkout.root / "workflow")),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.release
def test_a_paper_is_scaffolded_and_planned(checkout):
    assert scaffold(checkout, "--paper", "my-2nd-paper").returncode == 0
    counts = job_counts(
        checkout.run("--dry-run", "--cores", "1", "--config", "scale=nano", "--", "my-2nd-paper").stdout
    )
    assert counts["evaluate_baselines"] == 2 and counts["tabulate_paper"] == 1
    written = [path for path in checkout.root.glob("**/my[_-]2nd[_-]paper*/**/*") if path.suffix == ".py"]
    assert {path.stem for path in written} == {"__init__", "about", "plan", "results", "schema"}
    named = [*written, *checkout.root.glob("config/papers/my-*")]
    assert not any("sentiment" in path.read_text().lower() for path in named)
    style = [
        "ruff",
        "check",
        "--config",
        str(ROOT / "pyproject.toml"),
        *map(str, written),
    ]
    done = subprocess.run([sys.executable, "-m", *style], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.release
def test_a_model_is_scaffolded_and_planned(checkout):
    done = scaffold(checkout, "--model", "my_t5", "--like", "t5_nano")
    assert done.returncode == 0 and done.stdout.startswith("wrote config/models.yaml\n"), done.stderr
    edit = "set=papers.depth.pretraining.model=my_t5"
    planned = checkout.run("--dry-run", "--cores", "1", "--config", edit, "--", "results/depth/loss_fs.tsv")
    assert "Build the model my_t5_s" in planned.stdout + planned.stderr


@pytest.mark.release
def test_a_task_is_scaffolded_and_built(checkout, tmp_path):
    lines = (f"{group}-0\t{label}\tText {group}.\n" for group, label in enumerate(["negative", "positive"] * 20))
    (tmp_path / "my file.tsv").write_text("".join(lines))
    done = scaffold(checkout, "--task", "reviews_2", "--file", str(tmp_path / "my file.tsv"))
    assert done.returncode == 0, done.stderr
    checkout.run("--cores", "1", "--config", "set=papers.depth.finetuning.tasks.sst2.dataset=reviews_2", "--",
                 "results/shared/tasks/reviews_2/examples.parquet", REPRLAB_CACHE=str(tmp_path / "cache"))  # fmt: skip
