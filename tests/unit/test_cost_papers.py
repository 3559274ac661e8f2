"""Costs of decoders, adapters and encoders: counts against the known ones, and the tables of two papers."""

import functools
import json
import math
from collections import Counter
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.config.load import load_config
from reprlab.models.counted_models import CountedModel
from reprlab.models.flops import parameter_counts
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.preflight.planned_jobs import paper_plan
from reprlab.preflight.room import check_memory
from reprlab.registry.models import load_models
from reprlab.reporting.cost import RunCost, cost_table
from reprlab.reporting.cost_layout import TOTAL, CostLayout
from reprlab.reporting.cost_memory import weights_gb

ROOT = Path(__file__).resolve().parents[2]
MODELS = load_models(ROOT / "config/models.yaml")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj"]
SLUGS = ["intrinsic-dimension", "vocab-memory"]
# Spec of vocab-memory, section 3: with a head of two labels.
CLASSIFIERS = {
    "distilbert_base_cased": 65_783_042, "distilroberta_base": 82_119_938, "distilmbert_base_cased": 135_326_210,
    "bert_base_cased": 108_311_810, "roberta_base": 124_647_170, "deberta_v3_base": 184_423_682,
    "mbert_base_cased": 177_854_978, "xlm_roberta_base": 278_045_186, "xlm_v_base": 778_494_722,
    "deberta_v3_xsmall": 70_830_722, "deberta_v3_small": 141_896_450, "deberta_v3_large": 435_063_810,
}  # fmt: skip


def published(paper: str, name: str) -> pandas.DataFrame:
    return pandas.read_csv(ROOT / f"resources/published/{paper}/{name}.tsv", sep="\t")


def test_parameters_are_the_known_ones() -> None:
    for row in published("intrinsic-dimension", "models").itertuples():
        adapted = CountedModel(MODELS[row.model], rank=64, targets=tuple(TARGETS))
        assert parameter_counts(adapted) == (row.parameters, row.adapter_parameters)
    for name, known in CLASSIFIERS.items():
        assert parameter_counts(CountedModel(MODELS[name], labels=2)) == (known, 0)


@functools.cache
def plan_of(scale: str) -> Plan:
    given = {"numerics": {"dtype": "bfloat16"}} if scale == "paper" else {}
    return make_plan(load_config(ROOT, {"scale": scale, **given}))


def layout_of(paper: str, scale: str) -> CostLayout:
    option = plan_of(scale).job("estimate_cost", paper).settings["layout"]
    assert len(option.encode()) < 100_000, "it goes through a command line"
    return CostLayout.model_validate_json(option)


def jobs_of(layout: CostLayout, scale: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for run in layout.runs:
        found[run.stage] += run.jobs if run.scale == scale else 0
    return found


@pytest.mark.parametrize("paper", sorted(path.stem for path in (ROOT / "config/papers").glob("*.yaml")))
def test_the_models_of_the_default_scale_are_counted(paper: str) -> None:
    """Other architectures stand there than at `paper`: DEPTH's T5 has a classifier's head, of its encoder alone."""
    layout = layout_of(paper, "mini")
    # As planned: nothing has run.
    runs = [run.model_copy(update={"measured": [], "benchmarks": []}) for run in layout.runs]
    table = cost_table(layout.model_copy(update={"runs": runs}), "mini", Path()).head(len(runs))
    assert len(table) and (table["flops"].astype(float) > 0).all()


def test_states_that_are_collected_take_memory() -> None:
    layout = layout_of("intrinsic-dimension", "nano")
    run = next(run for run in layout.runs if run.stage == "collect_states")
    entry = layout.models[run.model]
    gone = RunCost(run.model_copy(update={"stage": "evaluate_lm"}), entry).memory_gb
    sizes = int(entry.config["num_hidden_layers"]) + 1, int(entry.config["hidden_size"])
    number = 2 if run.dtype == "bfloat16" else 4
    states = sizes[0] * sizes[1] * run.part_size * run.text_length * number / 1e9
    assert RunCost(run, entry).memory_gb - gone == pytest.approx(states) and weights_gb(10**9) == 4


@pytest.mark.parametrize("scale", ["nano", "mini", "paper"])
def test_every_training_and_inference_of_the_plan_is_costed(scale: str) -> None:
    plan = plan_of(scale)
    passes = [json.loads(job.settings["settings"])["steps"] for job in plan.jobs["collect_states"].values()]
    found = jobs_of(layout_of("intrinsic-dimension", scale), scale)
    assert found["train_adapter"] == len(plan.jobs["train_adapter"])
    # An adapter's ladder is collected step by step.
    assert found["collect_states"] == sum(max(1, len(steps)) for steps in passes)
    found = jobs_of(layout_of("vocab-memory", scale), scale)
    assert found["finetune_model"] == sum(key.startswith("vocab_memory_") for key in plan.jobs["finetune_model"])
    assert found["measure_finetuning"] == len(plan.jobs["measure_finetuning"])


@pytest.mark.parametrize("paper", SLUGS)
def test_files_of_measured_runs_are_files_of_the_plan(paper: str) -> None:
    plan = plan_of("mini")
    layout = layout_of(paper, "mini")
    stages = {"train_adapter": "adapters", "collect_states": "states", "finetune_model": "finetuned"}
    stages |= {"measure_finetuning": "measured"}
    for run in layout.runs:
        assert run.scale == "mini" and len(run.measured) in (0, len(run.benchmarks))
        for path, benchmark in zip(run.measured, run.benchmarks, strict=False):
            stage, _, file = benchmark.partition("/")
            (key,) = [key for key in plan.jobs[stage] if f"{key.replace('/', '.')}.tsv" == file]
            assert path.as_posix().removesuffix(".tsv").startswith(f"results/shared/{stages[stage]}/{key}")
    assert not any(run.measured or run.benchmarks for run in layout_of(paper, "paper").runs)


@pytest.mark.release
def test_hours_of_table_9_follow_the_formula() -> None:
    """MNLI's time gave the utilisation; the other large tasks were not used. The small ones are mostly start-up."""
    table = cost_table(layout_of("vocab-memory", "paper"), "paper", Path())
    timed = table[table["stage"] == "measure_finetuning"].set_index("name")
    hours = timed["paper_hours"].astype(float)
    assert hours["vocab_memory_roberta_base/mnli"] * 3600 == pytest.approx(7817.8, abs=0.5)
    for task in ("mnli", "qqp", "qnli", "sst2", "cola"):
        name = f"vocab_memory_roberta_base/{task}"
        assert timed["hours"][name] == pytest.approx(hours[name], rel=0.05)
    rows = published("vocab-memory", "table9_runtime")
    told = zip(rows["task"], rows["finetune_s"], strict=True)
    assert {f"vocab_memory_roberta_base/{task}": seconds for task, seconds in told} == {
        name: pytest.approx(value * 3600, abs=0.5) for name, value in hours.items()
    }
    assert timed["steps"]["vocab_memory_roberta_base/cola"] == math.ceil(3 * 8551 / 32)


def test_costs_of_the_published_models() -> None:
    table = cost_table(layout_of("intrinsic-dimension", "paper"), "paper", Path()).set_index(["stage", "name"])
    tuned = table.loc[("train_adapter", "llama_3_8b/id_*/sft_945")]
    # By hand, without attention and adapters: 4 FLOPs for each frozen weight in a product and token, 8 data sets.
    weights = 8_030_261_248 - 128_256 * 4096
    by_weights = 4 * weights * tuned["encoder_tokens"] * 16 * 945 * 8
    assert by_weights < float(tuned["flops"]) < 1.1 * by_weights
    five = table.loc[("collect_states", "llama_2_13b/id_*/icl_5")]
    assert (five["decoder_tokens"], five["jobs"]) == (1, 8)
    assert five["encoder_tokens"] == pytest.approx(6 * tuned["encoder_tokens"], rel=1e-3)
    assert five["memory_gb"] > 52 and float(table.loc[("train_adapter", "llama_2_13b/id_*/sft_945"), "memory_gb"]) > 78
    plan = paper_plan(ROOT, "intrinsic-dimension", "paper")
    told = {finding.subject: finding.message for finding in check_memory(plan, "paper")}
    assert "weights alone take 52 GB" in told["collect_states llama_2_13b/id_*/icl_5"]


def test_measured_runs_give_ratios_of_one_where_times_follow_the_formula(tmp_path: Path) -> None:
    runs = []
    for run in layout_of("intrinsic-dimension", "nano").runs:
        if run.stage not in ("train_adapter", "collect_states"):
            continue
        files = []
        for number in range(len(run.measured)):
            files.append(tmp_path / f"{run.name.replace('/', '.')}{number}")
            if run.stage == "collect_states":
                pyarrow.parquet.write_table(pyarrow.table({"tokens": [30, 50] * int(run.forwarded)}), files[-1])
            else:
                write_tsv(files[-1], pandas.DataFrame({"step": [2, run.steps], "tokens": [80, run.steps * 4 * 40]}))
        runs.append(run.model_copy(update={"measured": files}))
    layout = layout_of("intrinsic-dimension", "nano").model_copy(update={"runs": runs, "others": []})
    assert cost_table(layout, "nano", tmp_path / "none")["ratio"].isna().all(), "no benchmark files, no times"

    def timed(seconds) -> pandas.DataFrame:
        for run, value in zip(runs, seconds, strict=True):
            for name in run.benchmarks:
                (tmp_path / name).parent.mkdir(exist_ok=True)
                write_tsv(tmp_path / name, pandas.DataFrame({"s": [value / len(run.benchmarks)]}))
        table = cost_table(layout, "nano", tmp_path)
        return table[table["stage"] != TOTAL]

    flops = timed([1.0] * len(runs))["flops"].astype(float)
    again = timed(flops / 1e9)
    assert again["ratio"].tolist() == pytest.approx([1] * len(runs), rel=0.01)
    assert set(again["encoder_tokens"]) == {40.0} and {*again["stage"]} == {"train_adapter", "collect_states"}


def test_measured_fine_tuning_counts_every_arm(tmp_path: Path) -> None:
    """Files of all arms have the same names and rates in them."""
    (run,) = [run for run in layout_of("vocab-memory", "nano").runs if run.stage == "finetune_model" and run.measured]
    assert len(run.measured) == 4
    files = []
    for path, tokens in zip(run.measured, (500, 200, 60, 40), strict=True):
        files.append(tmp_path / path.parent.name)
        row = {"name": ["seed 1"] * 2, "learning_rate": [0.1] * 2, "metric": ["a", "b"], "steps": [5, 5]}
        write_tsv(files[-1], pandas.DataFrame({**row, "tokens": [tokens, tokens]}))
    for name in run.benchmarks:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_tsv(tmp_path / name, pandas.DataFrame({"s": [2.0]}))
    layout = layout_of("vocab-memory", "nano").model_copy(
        update={"runs": [run.model_copy(update={"measured": files})], "others": []}
    )
    row, _ = cost_table(layout, "nano", tmp_path).to_dict("records")
    assert row["measured_seconds"] == 8 and row["encoder_tokens"] == 800 / (20 * run.batch_size)
