"""Every stage of DEPTH at paper scale, once, on files in the formats of the published sources.

Models are T5 v1.1 base cut in depth and width, and steps and batches are few; readers, tokenizer, objectives, dtype,
accumulation, schedules and tables are those of the published grid.
"""

import pandas
import pyarrow.parquet
import pytest
from reprlab.artifacts.json_files import read_json
from reprlab.models.cut import LAYERS

from tests.published_hub import published_hub
from tests.published_hub.columns import ROWS

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


@pytest.fixture(scope="module")
def finished_paper(tmp_path_factory):
    from tests.checkouts import copy_project

    folder = tmp_path_factory.mktemp("paper")
    checkout = copy_project(folder / "project")
    with published_hub(folder, checkout.root / "config") as hub:
        hub.write_registries(checkout.root / "config")
        checkout.run(
            "--cores", "2", "--config", "scale=paper", f"set={'; '.join(EDITS)}", "--",
            *(f"results/depth/{table}.tsv" for table in TABLES),
            REPRLAB_CACHE=str(folder / "cache"), timeout=1500, **hub.environment,
        )  # fmt: skip
    return checkout.root / "runs/paper/results"


def test_text_is_read_split_and_tokenised_as_published(finished_paper) -> None:
    shared = finished_paper / "shared"
    documents = pyarrow.parquet.read_table(shared / "corpora/c4/documents.parquet").to_pandas()
    assert documents["split"].value_counts().to_dict() == {"train": 2 * ROWS, "validation": ROWS}
    sentences = pyarrow.parquet.read_table(shared / "corpora/c4/depth/sentences.parquet").to_pandas()
    assert sentences["sentences"].map(len).tolist() == [8] * 3 * ROWS, "Punkt finds the sentences that were written"
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
        assert (config["num_layers"], config["vocab_size"], config["feed_forward_proj"]) == (
            LAYERS,
            32_128,
            "gated-gelu",
        )
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
