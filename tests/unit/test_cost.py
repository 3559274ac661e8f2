"""Memory by formula against what PyTorch keeps, and the table of costs."""

import functools
import math
from collections import Counter
from pathlib import Path

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.config.load import load_config
from reprlab.models.build import build_from_config
from reprlab.models.counted_models import CountedModel
from reprlab.models.flops import kept_bytes
from reprlab.papers.depth.plan import add_jobs
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.preflight.published_costs import published_layout
from reprlab.registry.models import load_models
from reprlab.reporting.cost import cost_table
from reprlab.reporting.cost_layout import TOTAL, CostLayout
from reprlab.reporting.cost_memory import inference_gb, logits_bytes, training_gb
from reprlab.stages.estimate_cost import estimate_cost

ROOT = Path(__file__).resolve().parents[2]


# Kernels of a CPU keep casts that are not counted under autocast; the bound is that of the encoders' test.
@pytest.mark.parametrize(("dtype", "bound"), [("float32", 0.02), ("bfloat16", 0.2)])
def test_activations_are_those_that_torch_keeps(dtype: str, bound: float) -> None:
    import torch

    entry = load_models(ROOT / "config/models.yaml")["t5_mini"]
    entry = entry.model_copy(update={"config": {**entry.config, "num_layers": 3, "num_decoder_layers": 2}})
    model = build_from_config(entry, seed=0)
    kept: dict[int, torch.UntypedStorage] = {}
    weights = {value.untyped_storage().data_ptr() for value in model.parameters()}
    shapes = {shape for value in model.parameters() for shape in (value.shape, value.shape[::-1])}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        cast = tensor.dtype == torch.bfloat16 and tensor.shape in shapes
        if tensor.is_floating_point() and storage.data_ptr() not in weights and not cast:
            # Held, so that no other storage has its place.
            kept[storage.data_ptr()] = storage
        return tensor

    ids, labels = (torch.ones((4, length), dtype=torch.long) for length in (96, 48))
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16")
    with autocast, torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = model(input_ids=ids, labels=labels).loss
    assert loss.item() > 0
    found = sum(storage.nbytes() for storage in kept.values())
    softmax = 4 * 48 * int(entry.config["vocab_size"]) * 4
    assert 4 * kept_bytes(CountedModel(entry), 96, 48, dtype) + softmax == pytest.approx(found, rel=bound)


def test_training_memory_holds_weights_gradients_and_moments() -> None:
    assert training_gb(10**9, 0, 0, 4) == 16 and training_gb(10**9, 0, 5e8, 2) == 18.5
    # Frozen weights have neither gradient nor moments.
    assert training_gb(10**9, 10**7, 0, 4) == pytest.approx(4.16)
    assert training_gb(10**9, 10**7, 0, 2) == pytest.approx(6.16)
    assert inference_gb(10**9, 5e8) == 4.5
    assert logits_bytes(10, 1000, 2) == 100_000


@functools.cache
def layout_of(scale: str) -> CostLayout:
    if scale == "paper":
        return published_layout(ROOT, "depth")
    plan = make_plan(load_config(ROOT, {"scale": scale, "build": ["depth"]}))
    return CostLayout.model_validate_json(plan.job("estimate_cost", "depth").settings["layout"])


@pytest.mark.parametrize("scale", ["nano", "mini", "paper"])
def test_every_training_and_inference_of_the_plan_is_costed(scale: str) -> None:
    plan = Plan()
    add_jobs(plan, load_config(ROOT, {"scale": scale}))
    costed: Counter[str] = Counter()
    for run in layout_of(scale).runs:
        assert run.scale == scale
        costed[run.stage] += run.jobs
    assert costed["pretrain_lm"] == len(plan.jobs["pretrain_lm"])
    if scale == "paper":
        # One checkpoint and one learning rate a job.
        assert costed["finetune_model"] == len(plan.jobs["finetune_model"])


def test_published_rows_need_nothing_to_have_run(tmp_path: Path) -> None:
    layout = layout_of("paper")
    assert not any(run.measured for run in layout.runs)
    table = cost_table(layout, "paper", tmp_path)
    table = table[table["stage"] != "evaluate_lm"].set_index("name")
    t5, depth = table.loc["depth_t5_fs_s2137"], table.loc["depth_depth_fs_s2137"]
    # 512 tokens: 409.6 in the encoder and 204.8 labels, as the audit's L = 512 has 409 and 205.
    assert (t5["encoder_tokens"], t5["decoder_tokens"]) == (409.6, 204.8)
    assert t5["parameters"] == 247_577_856
    # By hand: 6 FLOPs for each weight and token without attention over the context, which adds a tenth or so.
    blocks = 12 * (4 * 768 * 768 + 3 * 768 * 2048)
    crossed = 12 * 4 * 768 * 768
    by_weights = 6 * (blocks * (409.6 + 204.8) + crossed / 2 * (409.6 + 204.8) + 768 * 32_128 * 204.8) * 200 * 1_000_000
    assert by_weights < float(t5["flops"]) < 1.25 * by_weights
    assert float(depth["flops"]) > float(t5["flops"])
    # The paper reports 5 to 7.5 hours for a run on MNLI; the formula must land within a factor of two of them.
    mnli = table.loc["depth_*_s2137/mnli/depth_*.s2137"]
    assert mnli["paper_hours"] == "5-7.5"
    assert 2.5 < mnli["hours"] < 15


def made(layout: CostLayout, benchmarks: Path) -> pandas.DataFrame:
    """The rows of measured runs."""
    table = cost_table(layout, "mini", benchmarks)
    return table[table["measured_seconds"].notna() & (table["stage"] != TOTAL)]


def measured_layout(tmp_path: Path, seconds: dict[str, float]) -> CostLayout:
    """The two main runs from scratch at mini, with throughput files as the engine writes them."""
    layout = layout_of("mini")
    runs = []
    for run in layout.runs:
        if run.scale == "mini" and run.name in seconds:
            path = tmp_path / f"{run.name}.tsv"
            steps = [1, run.steps]
            rows = {"step": steps, "seconds": [0.5, 0.5 + seconds[run.name]], "tokens": [1600, 1600 * run.steps]}
            write_tsv(path, pandas.DataFrame(rows))
            runs.append(run.model_copy(update={"measured": [path]}))
    return layout.model_copy(update={"runs": runs, "others": []})


def test_ratio_is_one_where_times_follow_the_count(tmp_path: Path) -> None:
    names = ["depth_t5_fs_s2137", "depth_depth_fs_s2137"]
    once = made(measured_layout(tmp_path, dict.fromkeys(names, 10.0)), tmp_path).set_index("name")
    assert once["encoder_tokens"].iloc[0] == pytest.approx(80), "a tenth of 1600 tokens a step of 16, corrupted"
    flops = once["flops"].astype(float)
    assert once["ratio"].loc[names[0]] / once["ratio"].loc[names[1]] == pytest.approx(
        flops[names[1]] / flops[names[0]], rel=0.01
    )
    fair = {name: float(flops[name]) / 1e9 for name in names}
    again = made(measured_layout(tmp_path, fair), tmp_path)
    assert again["ratio"].tolist() == pytest.approx([1, 1], rel=0.01)


def test_stage_writes_table_and_provenance(tmp_path: Path) -> None:
    layout = measured_layout(tmp_path, {"depth_t5_fs_s2137": 4.0})
    out = tmp_path / "results/cost.tsv"
    out.parent.mkdir()
    before = tmp_path / "published.tsv"
    write_tsv(before, pandas.DataFrame({"scale": ["paper"], "stage": ["total"], "device_hours": [12.5]}))
    estimate_cost(
        layout=layout, scale="mini", benchmarks=tmp_path, out=out, published=before, inputs=layout.runs[0].measured
    )
    table = pandas.read_csv(out, sep="\t")
    assert table["scale"].tolist() == ["paper", "mini", "mini"] and table["device_hours"].iloc[0] == 12.5
    assert math.isclose(table["measured_seconds"].iloc[1], 4.0) and table["stage"].iloc[2] == TOTAL
    assert (out.parent / "cost.provenance.json").exists()
