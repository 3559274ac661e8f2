"""Costs of rerankers and sentence encoders: counts by hand for a tiny model of each kind, known figures, and tables."""

from __future__ import annotations

import functools
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.models.build import build_from_config
from reprlab.models.counted_models import CountedBackbone
from reprlab.models.flops import forward_flops, kept_bytes, parameter_counts, training_flops
from reprlab.models.scan_cost import counted_kernels
from reprlab.planning.plan import Plan
from reprlab.preflight.planned_jobs import paper_plan
from reprlab.preflight.published_costs import published_layout
from reprlab.registry.models import ModelEntry, load_models
from reprlab.reporting.cost import RunCost, cost_table
from reprlab.reporting.cost_layout import TOTAL, CostLayout, CostRun
from reprlab.reporting.cost_measured import Measured
from reprlab.reporting.cost_memory import training_gb
from reprlab.sentences.counted_encoders import CountedEncoder
from reprlab.sentences.encoder import build_encoder
from reprlab.sentences.settings import EncoderSettings, LowRank
from reprlab.sentences.texts import EncodedTexts
from reprlab.sentences.training import triple_loss
from reprlab.sentences.triples import Triples
from reprlab.training.finetuning_encoding import Ragged

if TYPE_CHECKING:
    import torch

ROOT = Path(__file__).resolve().parents[2]
MODELS = load_models(ROOT / "config/models.yaml")
SLUGS = ("ssm-rerankers", "prompt-tuning-encoders", "overparameterized-encoders")
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
LENGTH = 100
# Specs, section 5: backbones of rerankers, decoders without their output layer at 25 layers, adapters of rank 16.
BACKBONES = {
    "bert_large_uncased": 335_141_888, "electra_base": 108_891_648, "bart_large": 406_291_456, "opt_350m": 331_196_416,
    "mamba_130m": 129_135_360, "mamba_1_4b": 1_372_178_432, "mamba2_130m": 128_989_632, "mamba2_1_3b": 1_343_757_312,
    "llama_3_2_1b": 1_235_814_400,
}  # fmt: skip
CUT = {"llama_3_8b_instruct": 5_978_140_672, "qwen2_7b_instruct": 6_371_445_760, "phi_3_mini_4k": 2_929_812_480}
ADAPTERS = {"llama_3_8b_instruct": 41_943_040 * 25 // 32, "qwen2_7b_instruct": 40_370_176 * 25 // 28,
            "phi_3_mini_4k": 8_912_896 * 25 // 32}  # fmt: skip


def entry_of(name: str, **sizes: int) -> ModelEntry:
    """An entry with other sizes."""
    return MODELS[name].model_copy(update={"config": {**MODELS[name].config, **sizes}})


def low_rank(rank: int) -> EncoderSettings:
    adapter = LowRank(rank=rank, alpha=2 * rank, targets=TARGETS, partial=True)
    return EncoderSettings(method="lora", pooling="weighted_mean", adapter=adapter)


def test_parameters_are_the_known_ones() -> None:
    for name, known in BACKBONES.items():
        assert parameter_counts(CountedBackbone(MODELS[name])) == (known, 0), name
    for name, known in CUT.items():
        encoder = low_rank(16).model_copy(update={"layers": 25})
        assert parameter_counts(CountedEncoder(MODELS[name], encoder=encoder)) == (known, ADAPTERS[name])
    for method, trained in (("prompt", 16 * 4096), ("prefix", 16 * 2 * 32 * 4096)):
        encoder = EncoderSettings(method=method, pooling="last", vectors=16)
        assert parameter_counts(CountedEncoder(MODELS["llama_2_7b_chat"], encoder=encoder))[1] == trained


def test_mamba_by_hand() -> None:
    """Products of matrices and the convolution take twice their forward pass backwards, the scan three times; the
    kernel of training makes convolution and steps again."""
    entry = entry_of("mamba_nano", num_hidden_layers=3)
    width, inner, states, taps, rank = 32, 64, 16, 4, 2
    products = 2 * (width * 2 * inner + inner * (rank + 2 * states) + rank * inner + inner * width)
    convolution, scan = 2 * taps * inner, 7 * inner * states
    forward = 3 * LENGTH * (products + convolution + scan)
    assert forward_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(forward, rel=1e-9)
    training = 3 * LENGTH * (3 * products + 4 * convolution + 4 * scan + 2 * rank * inner)
    assert training_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(training, rel=1e-9)


def test_mamba_2_by_hand() -> None:
    entry = entry_of("mamba2_nano", num_hidden_layers=3)
    width, inner, heads, head, states, taps, chunk = 32, 64, 2, 32, 32, 4, 256
    products = 2 * (width * (2 * inner + 2 * states + heads) + inner * width)
    convolution = 2 * taps * (inner + 2 * states)
    # Scores of a chunk, their product with the inputs, the states at its end and what is read of them.
    scan = 2 * chunk * states + 2 * chunk * heads * head + 2 * heads * head * states + 2 * heads * head * states
    forward = 3 * LENGTH * (products + convolution + scan)
    assert forward_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(forward, rel=1e-9)
    training = 3 * LENGTH * (3 * products + 4 * convolution + 4 * scan)
    assert training_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(training, rel=1e-9)


@pytest.mark.parametrize(("dtype", "number"), [("float32", 4), ("bfloat16", 2)])
@pytest.mark.parametrize("name", ["mamba_nano", "mamba2_nano"])
def test_what_mamba_keeps_by_hand(name: str, dtype: str, number: int) -> None:
    """Kernels keep what a block is projected to and what the scan puts out, that of Mamba-1 steps, B and C as well, B
    and C once more, and two numbers a state for each sequence; its rates are kept too, one a state. Around them stand
    the norm's input and what it makes of it in float32, its scale, and what is projected; behind the last block
    another norm.

    Source: what `MambaInnerFn` and `MambaSplitConv1dScanCombinedFn` of state-spaces/mamba save.
    """
    entry = entry_of(name, num_hidden_layers=3)
    width, inner = 32, 64
    inside, sequence = (2 * inner + 2 * 32 + 2) + inner, 0
    if name == "mamba_nano":
        states, rank = 16, 2
        inside, sequence = 2 * inner + inner + (rank + 2 * states) + 2 * states, 4 * 3 * states * inner
    norm = 4 * (2 * width + 1)
    kept = 3 * (LENGTH * (norm + number * (width + inside)) + sequence) + LENGTH * norm
    assert kept_bytes(CountedBackbone(entry), LENGTH, 0, dtype) == pytest.approx(kept, rel=0.02)


@pytest.mark.parametrize("name", ["opt_nano", "bert_nano_mlm"])
def test_attention_by_hand(name: str) -> None:
    entry = entry_of(name, num_hidden_layers=3)
    width, inside = 32, 128
    forward = 3 * (2 * (4 * width**2 + 2 * width * inside) * LENGTH + 4 * width * LENGTH**2)
    assert forward_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(forward, rel=1e-9)
    assert training_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(3 * forward, rel=1e-9)


def test_an_encoder_decoder_reads_a_sequence_twice() -> None:
    entry = MODELS["bart_base"]
    width, inside = 768, 3072
    own = 2 * (4 * width**2 + 2 * width * inside) * LENGTH + 4 * width * LENGTH**2
    across = 2 * 4 * width**2 * LENGTH + 4 * width * LENGTH**2
    assert forward_flops(CountedBackbone(entry), LENGTH, 0) == pytest.approx(6 * (2 * own + across), rel=1e-9)


def test_a_prompt_by_hand() -> None:
    """Frozen weights have no gradient of their own; the context has, and k places more are read."""
    entry = entry_of("soft_prompt_nano", num_hidden_layers=3)
    width, narrow, inside, places = 32, 16, 64, LENGTH + 5
    products = 3 * 2 * (2 * width**2 + 2 * width * narrow + 3 * width * inside) * places
    context = 3 * 4 * width * places**2
    model = CountedEncoder(entry, encoder=EncoderSettings(method="prompt", pooling="last", vectors=5))
    assert forward_flops(model, LENGTH, 0) == pytest.approx(products + context, rel=1e-9)
    assert training_flops(model, LENGTH, 0) == pytest.approx(2 * products + 3 * context, rel=1e-9)
    whole = CountedEncoder(entry, encoder=EncoderSettings(method="full", pooling="last"))
    assert training_flops(whole, places, 0) == pytest.approx(3 * (products + context), rel=1e-9)
    assert 2 / 3 < training_flops(CountedEncoder(entry, encoder=low_rank(1)), places, 0) / training_flops(
        whole, places, 0
    ) < 1  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        EncoderSettings(method="full", pooling="last"),
        EncoderSettings(method="prompt", pooling="last", vectors=4),
        low_rank(2),
    ],
    ids=lambda settings: settings.method,
)
@pytest.mark.parametrize("name", ["llama_deep_nano", "opt_nano"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_what_is_kept_is_what_torch_keeps_with_fused_attention(
    name: str, settings: EncoderSettings, dtype: str
) -> None:
    import torch

    if name == "opt_nano" and settings.adapter:
        adapter = settings.adapter.model_copy(update={"targets": ["q_proj", "v_proj", "fc1", "fc2"]})
        settings = settings.model_copy(update={"adapter": adapter})
    entry = entry_of(name, num_hidden_layers=3)
    encoder = build_encoder(build_from_config(entry, seed=0), settings, 0).train()
    ids = torch.randint(5, 1000, (2, LENGTH))
    seen = torch.ones_like(ids)
    with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
        _, found = kept_by(encoder, {"input_ids": ids, "attention_mask": seen, "text_mask": seen})
    # Kernels of a CPU keep a mask and repeated heads that others do not.
    assert 2 * kept_bytes(CountedEncoder(entry, encoder=settings), LENGTH, 0, dtype) == pytest.approx(found, rel=0.2)


def kept_by(encoder: torch.nn.Module, batch: dict[str, torch.Tensor]) -> tuple[torch.Tensor, int]:
    """The vectors of a batch, and the bytes that PyTorch keeps for their gradient, without weights and their casts."""
    import torch

    kept: dict[int, torch.UntypedStorage] = {}
    weights = {value.untyped_storage().data_ptr() for value in encoder.parameters()}
    shapes = {shape for value in encoder.parameters() for shape in (value.shape, value.shape[::-1])}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        cast = tensor.dtype == torch.bfloat16 and tensor.shape in shapes
        if tensor.is_floating_point() and storage.data_ptr() not in weights and not cast:
            # Held, so that no other storage has its place.
            kept[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        vectors = encoder(batch)
    return vectors, sum(storage.nbytes() for storage in kept.values())


def test_memory_is_of_the_part_with_the_longest_texts() -> None:
    """A batch of mixed lengths in three parts, as training reads it: no part keeps more than is counted."""
    import numpy as np

    entry, settings, size = entry_of("llama_deep_nano", num_hidden_layers=3), low_rank(2), 4
    rng = np.random.default_rng(0)
    lengths = np.array([70, 8, 64, 5, 3, 60, 9, 4, 66, 12, 7, 6])
    ids = Ragged.of([rng.integers(5, 1000, length).tolist() for length in lengths])
    triples = Triples(EncodedTexts(ids, np.zeros(12, dtype=np.int64), 0), {"mixed": size})
    encoder = build_encoder(build_from_config(entry, seed=0), settings, 0).train()
    groups = []

    def read(batch: dict[str, torch.Tensor]) -> torch.Tensor:
        vectors, found = kept_by(encoder, batch)
        groups.append((*batch["input_ids"].shape, found))
        return vectors

    triple_loss(0.05, size)(read, triples.batch(np.arange(size)))
    shapes = [(rows, width) for rows, width, _ in groups]
    # Three parts of four texts, each read in groups of similar length.
    assert shapes == [(3, 70), (1, 60), (3, 12), (1, 7), (3, 6), (1, 3)]
    parts = [groups[first][2] + groups[first + 1][2] for first in (0, 2, 4)]
    nano = next(run for run in layout_of("overparameterized-encoders", "nano").runs if run.encoder)
    given = {"dtype": "float32", "part_size": size, "text_length": 64, "encoder": settings}
    run = nano.model_copy(update=given)
    seen = Measured(1.0, float(lengths.mean()), layers=3, longest=70)
    cost = RunCost(run, entry, seen)
    without = training_gb(*parameter_counts(CountedEncoder(entry, encoder=settings)), 0, 4)
    counted = 1e9 * (cost.memory_gb - without)
    # An instruction stands before a text that was cut to 64: what was read is longer than the limit.
    assert counted == pytest.approx(parts[0], rel=0.2) and counted > 5 * max(parts[1:])
    assert cost.lengths == (lengths.mean(), 0), "FLOPs are those of all texts"
    unknown, limit = (RunCost(run, entry, replace(seen, longest=longest)) for longest in (0, 64))
    assert unknown.memory_gb == limit.memory_gb < cost.memory_gb


def test_counting_leaves_the_scans_as_they_are() -> None:
    from transformers.models.mamba import modeling_mamba

    before = modeling_mamba.mamba_selective_scan
    with pytest.raises(KeyError), counted_kernels():
        assert modeling_mamba.mamba_selective_scan is not before
        raise KeyError
    assert modeling_mamba.mamba_selective_scan is before


@functools.cache
def plan_of(slug: str, scale: str) -> Plan:
    return paper_plan(ROOT, slug, scale)


@functools.cache
def layout_of(slug: str, scale: str) -> CostLayout:
    if scale == "paper":
        return published_layout(ROOT, slug)
    return CostLayout.model_validate_json(plan_of(slug, scale).job("estimate_cost", slug).settings["layout"])


@pytest.mark.parametrize("scale", ["nano", "mini", "small", "paper"])
@pytest.mark.parametrize("slug", SLUGS)
def test_every_training_of_the_plan_is_costed(slug: str, scale: str) -> None:
    plan, layout = plan_of(slug, scale), layout_of(slug, scale)
    found: Counter[str] = Counter()
    for run in layout.runs:
        assert run.scale == scale
        found[run.stage] += run.jobs
        # Of prompts in another form the benchmark files alone tell the seconds.
        timed = run.stage in ("train_encoder", "train_reranker", "pretrain_lm")
        assert bool(run.measured) == (scale != "paper" and timed)
        assert len(run.measured) in (0, len(run.benchmarks)) and len(run.spent) in (0, len(run.measured))
        assert bool(run.benchmarks) == (scale != "paper")
    settings = [json.loads(job.settings["settings"]) for job in plan.jobs.get("train_encoder", {}).values()]
    assert found["train_encoder"] == sum(len(one["seeds"]) * len(one["learning_rates"]) for one in settings)
    settings = [json.loads(job.settings["settings"]) for job in plan.jobs.get("train_prompt", {}).values()]
    assert found["train_prompt"] == sum(len(one["seeds"]) * len(one["learning_rates"]) for one in settings)
    trained = plan.jobs.get("train_reranker", {}).values()
    assert found["train_reranker"] == sum(len(json.loads(job.settings["settings"])["seeds"]) for job in trained)
    assert found["measure_layers"] == len(plan.jobs.get("measure_layers", {}))
    # Every file that is read is made by a job of the plan.
    made = [key for stage in ("pretrain_lm", "train_encoder", "train_reranker") for key in plan.jobs.get(stage, {})]
    for path in (path for run in layout.runs for path in (*run.measured, *run.spent)):
        assert any(path.parent.as_posix().endswith(key) for key in made), path


def test_minutes_of_table_2_follow_the_count() -> None:
    """What a depth takes against another is printed; lengths of texts, which all share, are not."""
    layout = layout_of("overparameterized-encoders", "paper")
    costs = {run.name: RunCost(run, layout.models[run.model]) for run in layout.runs if run.published_hours}
    assert len(costs) == 8
    printed = {name: float(cost.run.published_hours) for name, cost in costs.items()}
    assert printed["llama_3_8b/l3prune_large"] == pytest.approx(2.8)
    for model in ("llama_3_8b", "mistral_7b", "qwen2_7b", "phi3_4b"):
        counted, told = (
            large / small
            for large, small in (
                (costs[f"{model}/l3prune_large"].flops, costs[f"{model}/l3prune_small"].flops),
                (printed[f"{model}/l3prune_large"], printed[f"{model}/l3prune_small"]),
            )
        )
        assert counted == pytest.approx(told, rel=0.1), model
    # By hand: one pass forward and one backward through frozen weights, two FLOPs a weight each, and five parts of six
    # forward again.
    weights = 22 * (2 * 4096**2 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    by_weights = (4 + 2 * 5 / 6) * weights * 400 * 3 * 64 * 1000
    assert by_weights < costs["mistral_7b/l3prune_large"].flops < 1.1 * by_weights


def measured(run: CostRun, folder: Path, seconds: float, steps: int, tokens: int) -> CostRun:
    """The run with files as its stage and the engine write them: two seeds, losses at two steps, two layers of
    those that were to be chosen."""
    folder.mkdir(parents=True, exist_ok=True)
    losses, spent = folder / "metrics.tsv", folder / "cost.tsv"
    rows = {"seed": [0, 0, 1, 1], "step": [1, steps] * 2, "tokens": [tokens // steps, tokens] * 2}
    rows |= {"chosen": [1] * 4, "learning_rate": [0.1] * 4} if run.encoder else {"learning_rate": [0.1, 0.0] * 2}
    write_tsv(losses, pandas.DataFrame(rows))
    write_tsv(
        spent,
        pandas.DataFrame(
            {
                "seed": [0, 1],
                "seconds": [seconds / 2] * 2,
                "layers": [2 if "large" in run.name else 4] * 2,
                "longest": [24, 30],
            }
        ),
    )
    write_tsv(folder / "benchmark.tsv", pandas.DataFrame({"s": [seconds]}))
    files = {
        "measured": [losses],
        "spent": [spent] if run.encoder else [],
        "benchmarks": [f"{folder.name}/benchmark.tsv"],
    }
    return run.model_copy(update={**files, "jobs": 2})


@pytest.mark.parametrize(
    ("slug", "names"),
    [
        ("overparameterized-encoders", ["llama_deep/l3prune_large", "llama_deep/l3prune_p00"]),
        ("ssm-rerankers", ["mamba1_nano/squad_passages/passages_firstp", "mamba2_nano/squad_sections/documents_longp"]),
    ],
)
def test_measured_runs_give_ratios_of_one_where_times_follow_the_count(
    slug: str, names: list[str], tmp_path: Path
) -> None:
    layout = layout_of(slug, "nano")
    runs = [run for run in layout.runs if run.name in names and run.stage.startswith("train_")]
    assert [run.name for run in runs] == names
    read = [run.batch_size * run.sequences * 6 * 20 for run in runs]

    def table_of(seconds: list[float]) -> pandas.DataFrame:
        made = [measured(run, tmp_path / str(n), seconds[n], 6, read[n]) for n, run in enumerate(runs)]
        table = cost_table(layout.model_copy(update={"runs": made, "others": []}), "nano", tmp_path)
        return table[table["stage"] != TOTAL]

    once = table_of([1.0, 1.0])
    assert once["steps"].tolist() == [6, 6] and once["encoder_tokens"].tolist() == [20, 20]
    again = table_of([float(flops) / 1e9 for flops in once["flops"]])
    assert again["ratio"].tolist() == pytest.approx([1, 1], rel=0.01)
    if slug == "overparameterized-encoders":
        # The depth that the losses chose, of four layers.
        assert float(once["flops"].iloc[0]) < 0.6 * float(once["flops"].iloc[1])


@pytest.mark.parametrize("model", ["llama_3_8b", "qwen2_7b", "phi3_4b"])
def test_each_layer_that_is_kept_costs_the_same(model: str) -> None:
    """L3Prune's 5.13: no output layer takes part, and looking an embedding up is not a product."""
    layout = layout_of("overparameterized-encoders", "paper")
    runs = {run.name: run for run in layout.runs if run.stage == "train_encoder"}
    chosen = [runs[f"{model}/l3prune_{depth}"] for depth in ("p00", "p40", "p90")]
    costs = [RunCost(run, layout.models[run.model]) for run in chosen]
    kept = [int(cost.run.encoder.layers) for cost in costs if cost.run.encoder]
    assert kept == ([28, 16, 2] if model == "qwen2_7b" else [32, 19, 3])
    flops = [cost.flops for cost in costs]
    layer = (flops[0] - flops[1]) / (kept[0] - kept[1])
    assert layer > 0 and (flops[1] - flops[2]) / (kept[1] - kept[2]) == pytest.approx(layer, rel=1e-6)
    # Nothing stands beside the layers; the first one's inputs are frozen and take no gradient.
    assert -0.5 * layer < flops[0] - kept[0] * layer < 1e-3 * layer
