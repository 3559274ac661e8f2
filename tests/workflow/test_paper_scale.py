"""Every stage of DEPTH at paper scale, once, on files in the formats of the published sources.

Models are T5 v1.1 base cut to one narrow layer, and steps and batches are few; readers, tokenizer, objectives, dtype,
accumulation, schedules and tables are those of the published grid.
"""

import random

import pandas
import pyarrow.parquet
import pytest
import yaml
from reprlab.artifacts.json_files import read_json
from reprlab.registry.datasets import load_registry
from reprlab.stages.build_examples import build_examples
from reprlab.stages.fetch_archive import fetch_archive

from tests.workflow.paper_fixtures import edit_registries, hub_model, make_sources

pytestmark = pytest.mark.slow

TASKS = ("cola", "mnli", "sp_arxiv", "ni")
ABSENT = ("sst2", "sp_wiki", "sp_rocstory", "dc_chat", "dc_wiki")
EDITS = [
    "papers.depth.data.shards=2",
    "papers.depth.pretraining.batch_size=4",
    "papers.depth.pretraining.evaluation_every=1",
    "papers.depth.pretraining.schedule.warmup_steps=1",
    *(f"papers.depth.pretraining.runs.{run}.{key}" for run in ("fs", "cpt") for key in ("steps=2", "ladder=[1, 2]")),
    "papers.depth.pretraining.runs.fs.horizon_steps=2",
    "papers.depth.evaluation.examples=8",
    "papers.depth.finetuning.learning_rates=[1e-4]",
    # Cells in one process for each format: a start costs more than a cell of two steps.
    "papers.depth.finetuning.jobs=task",
    "papers.depth.finetuning.checkpoints=last",
    "papers.depth.statistics.bootstrap=100",
    *(f"papers.depth.finetuning.tasks.{task}.{key}" for task in TASKS for key in ("batch_size=4", "warmup_steps=1")),
    *(f"papers.depth.finetuning.tasks.{task}.steps=2" for task in TASKS if task != "ni"),
    "papers.depth.finetuning.tasks.ni.epochs=1",
    "papers.depth.finetuning.tasks.ni.instances_per_task=4",
    *(f"papers.depth.finetuning.tasks.{task}.dataset=null" for task in ABSENT),
]
TABLES = ["glue", "discoeval", "ni", "loss_fs"]
# Data sets of the tasks that are left out, to save time: their files are read all the same.
EXAMPLES = ["glue_sst2", "discoeval_sp_wiki", "discoeval_sp_rocstory", "discoeval_dc_chat", "discoeval_dc_wiki"]


@pytest.fixture(scope="module")
def finished_paper(tmp_path_factory):
    from tests.checkouts import copy_project

    folder = tmp_path_factory.mktemp("paper")
    checkout = copy_project(folder / "project")
    make_sources(folder)
    repository, revision = edit_registries(checkout.root, folder)
    config = yaml.safe_load((checkout.root / "config/models.yaml").read_text())["t5_v1_1_base_pretrained"]["config"]
    hub_model(folder / "huggingface", repository, revision, config, random.Random(1))
    # The hub's client finds the model in its own cache and needs no network.
    checkout.run(
        "--cores", "2", "--config", "scale=paper", f"set={'; '.join(EDITS)}", "--",
        *(f"results/depth/{table}.tsv" for table in TABLES),
        REPRLAB_CACHE=str(folder / "cache"), REPRLAB_MIRROR=str(folder / "mirror"), HF_HUB_OFFLINE="1",
        HF_HOME=str(folder / "huggingface"), NLTK_DATA=str(folder / "nltk_data"), timeout=1500,
    )  # fmt: skip
    return checkout.root / "runs/paper/results"


def test_text_is_read_split_and_tokenised_as_published(finished_paper) -> None:
    shared = finished_paper / "shared"
    documents = pyarrow.parquet.read_table(shared / "corpora/c4/documents.parquet").to_pandas()
    assert documents["split"].value_counts().to_dict() == {"train": 20, "validation": 10}
    sentences = pyarrow.parquet.read_table(shared / "corpora/c4/depth/sentences.parquet").to_pandas()
    assert sentences["sentences"].map(len).tolist() == [8] * 30, "Punkt finds the sentences that were written"
    vocabulary = read_json(shared / "tokenizers/depth_t5_v1_1_base_pretrained/vocabulary.json")
    assert vocabulary["padded_size"] == 32_128
    tokens = pyarrow.parquet.read_table(shared / "tokens/c4_depth_depth.parquet").to_pandas()
    assert all(row[0] == 32_120 and row[-1] == 1 and 32_100 <= row[1] < 32_120 for row in tokens["input_ids"])


def test_both_objectives_train_in_bfloat16_with_their_schedules(finished_paper) -> None:
    for run in ("depth_t5_fs", "depth_depth_fs", "depth_t5_cpt", "depth_depth_cpt"):
        folder = finished_paper / f"shared/pretrained/{run}_s2137"
        metrics = pandas.read_csv(folder / "metrics.tsv", sep="\t")
        assert metrics["step"].tolist() == [1, 2]
        assert metrics["loss"].notna().all() and (metrics["gradient_norm"] > 0).all()
        config = read_json(folder / "ladder/step-00000002/config.json")
        assert (config["num_layers"], config["vocab_size"], config["feed_forward_proj"]) == (1, 32_128, "gated-gelu")
        assert config["dropout_rate"] == 0.0, "the released weights are trained without dropout too"
    provenance = read_json(finished_paper / "depth/loss_fs.provenance.json")
    assert provenance["settings"]["scale"] == "paper"


def test_continued_runs_start_from_the_released_weights(finished_paper) -> None:
    metrics = {
        run: pandas.read_csv(finished_paper / f"shared/pretrained/depth_t5_{run}_s2137/metrics.tsv", sep="\t")
        for run in ("fs", "cpt")
    }
    assert metrics["fs"]["loss"][0] != metrics["cpt"]["loss"][0]
    assert metrics["fs"]["tokens"][0] == metrics["cpt"]["tokens"][0], "on the same first batch"


def test_tables_have_the_published_rows_and_data(finished_paper) -> None:
    glue = pandas.read_csv(finished_paper / "depth/glue.tsv", sep="\t")
    assert set(glue["scale"]) == {"paper"}
    assert set(glue["init"]) >= {"fs", "cpt", "public"}
    trained = glue[glue["init"].isin(["fs", "cpt"])]
    assert trained[["cola", "mnli_m", "mnli_mm"]].notna().all(axis=None)
    ni = pandas.read_csv(finished_paper / "depth/ni.tsv", sep="\t")
    assert ni["rougeL"].notna().any()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_other_data_sets_are_read(finished_paper, monkeypatch, tmp_path, name: str) -> None:
    project = finished_paper.parents[2]
    monkeypatch.setenv("REPRLAB_MIRROR", str(project.parent / "mirror"))
    registry = project / "config/datasets.yaml"
    entry = load_registry(registry).task(name)
    receipts = [tmp_path / f"{archive}.json" for archive in entry.archives]
    for archive, receipt in zip(entry.archives, receipts, strict=True):
        fetch_archive(archive=archive, registry=registry, cache=tmp_path / "cache", receipt=receipt)
    build_examples(entry=entry, receipts=receipts, documents=[], cache=tmp_path / "cache", out=tmp_path / "out.parquet")
    rows = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pandas()
    assert set(rows["split"]) >= {"train", "validation"}
