"""Speed of rerankers: attention, arithmetic and warm-ups of what is timed, and what does not fit into memory."""

from types import SimpleNamespace

import pandas
import pytest
import torch
from reprlab.artifacts.tables import read_tsv, write_tsv
from reprlab.papers.ssm_rerankers.results import RESULTS
from reprlab.papers.ssm_rerankers.tables_reranking import speed
from reprlab.results.frame import frame_of
from reprlab.results.gather import gather_rows
from reprlab.results.records import Drawn
from reprlab.results.sources import Missing, Source
from reprlab.retrieval.memory_limits import is_out_of_memory
from reprlab.retrieval.rerank_speed import SpeedSettings, operator_shares, speed_rows
from reprlab.retrieval.reranker import reranker
from rerank_fixtures import tiny, tiny_reranker

# In float32 2 ** 50 bytes, which no machine has.
IMPOSSIBLE = 2**48
SETTINGS = {
    "template": "document_first", "training_length": 8, "training_batches": [1, 2, 4], "lengths": [8, 16, 24],
    "batch": 2, "documents": 4, "repeats": 2, "operators": 40,
}  # fmt: skip
OUT = "out of memory"


def rows(model, **more):
    settings = SpeedSettings.model_validate({**SETTINGS, **more})
    return list(speed_rows(model, settings, 60, torch.device("cpu")))


class Greedy(torch.nn.Module):
    """A reranker that asks for an impossible tensor where it is given more than `most` tokens; it counts its passes."""

    def __init__(self, most, error=None):
        super().__init__()
        self.backbone, self.most, self.error, self.seen = tiny("opt").base_model, most, error, []
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, ids, mask):
        self.seen.append(tuple(ids.shape))
        if ids.numel() > self.most:
            if self.error is not None:
                raise self.error
            torch.empty(IMPOSSIBLE)
        return ids.float().sum(1) * self.weight


def test_a_cell_that_does_not_fit_is_a_row_and_larger_ones_are_not_tried():
    model = Greedy(most=15)
    found = rows(model, warmups=0)
    training = [row for row in found if row["metric"] == "training_speed"]
    assert [(row["batch"], row["reason"]) for row in training] == [
        (1, ""), (2, OUT), (4, f"{OUT} with fewer or shorter sequences already"),
    ]  # fmt: skip
    assert training[0]["value"] > 0 and training[0]["n"] == 2
    assert all(row["value"] is None and row["n"] is None for row in training[1:])
    scoring = [row for row in found if row["metric"] == "scoring_speed"]
    assert [row["length"] for row in scoring] == [8, 16, 24] and all(row["reason"].startswith(OUT) for row in scoring)
    (operators,) = (row for row in found if row["metric"] == "operator_share")
    assert operators["value"] is None and operators["reason"] == OUT and operators["operator"] == ""
    # Two passes that fit, one of two sequences that does not; then one of scoring and one of the profile.
    assert model.seen == [(1, 8), (1, 8), (2, 8), (2, 8), (2, 8)]


def test_smaller_cells_behind_a_failed_one_are_tried():
    found = rows(Greedy(most=15), training_batches=[4, 1], batch=1, lengths=[24, 8])
    value = {(row["metric"], row["batch"], row["length"]): row["value"] for row in found if row["reason"] == ""}
    assert {key[1:] for key in value if key[0] == "training_speed"} == {(1, 8)}
    assert {key[1:] for key in value if key[0] == "scoring_speed"} == {(1, 8)}


def test_training_is_timed_as_training_and_scoring_as_scoring():
    """Each update begins without the gradients of the one before; scoring is without dropout and remembers nothing."""

    class Noted(Greedy):
        def forward(self, ids, mask):
            self.modes.append((self.training, torch.is_grad_enabled(), self.weight.grad is None))
            return super().forward(ids, mask)

    model = Noted(most=10**6)
    model.modes = []
    found = rows(model, warmups=0, training_batches=[1], lengths=[8], repeats=3)
    assert model.modes == [(True, True, True)] * 3 + [(False, False, True)] * 4
    (training,) = (row for row in found if row["metric"] == "training_speed")
    assert training["n"] == 3 and {row["attention"] for row in found} == {"none"}
    assert operator_shares([], "self_cpu_time_total", 3) == []


def test_a_kernel_and_the_operator_that_asked_for_it_are_counted_once():
    """On a GPU the profiler lists both, with the same time: the percents of operators alone sum to 100."""
    where = torch.autograd.DeviceType
    events = [
        SimpleNamespace(key="aten::mm", device_type=where.CPU, self_device_time_total=30.0),
        SimpleNamespace(key="gemm_kernel", device_type=where.CUDA, self_device_time_total=30.0),
        SimpleNamespace(key="aten::add", device_type=where.CPU, self_device_time_total=10.0),
        SimpleNamespace(key="elementwise_kernel", device_type=where.CUDA, self_device_time_total=10.0),
        SimpleNamespace(key="aten::linear", device_type=where.CPU, self_device_time_total=0.0),
    ]
    assert operator_shares(events, "self_device_time_total", 2) == [("aten::mm", 75.0), ("aten::add", 25.0)]


@pytest.mark.parametrize("error", [RuntimeError("shapes do not fit"), ValueError("no"), KeyError("ids")])
def test_other_errors_are_raised(error):
    with pytest.raises(type(error)):
        rows(Greedy(most=15, error=error))


def test_what_is_out_of_memory():
    """An allocation that fails on this processor, an accelerator's error, and Python's; a wrong size is none."""
    with pytest.raises(RuntimeError) as refused:
        torch.empty(IMPOSSIBLE)
    assert is_out_of_memory(refused.value)
    assert is_out_of_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to ..."))
    assert is_out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory.")) and is_out_of_memory(MemoryError())
    with pytest.raises(RuntimeError) as wrong:
        torch.empty(2) @ torch.empty(3)
    assert not is_out_of_memory(wrong.value)
    assert not is_out_of_memory(RuntimeError("not enough memory of what was asked"))


def operators(found):
    return {row["operator"] for row in found if row["metric"] == "operator_share"}


def test_each_attention_has_its_rows_and_runs():
    found = rows(reranker(tiny("opt"), "last", 0.0), attention=["sdpa", "eager"])
    of = {name: [row for row in found if row["attention"] == name] for name in ("sdpa", "eager")}
    cells = [
        [(row["metric"], row["batch"], row["length"]) for row in part if not row["operator"]] for part in of.values()
    ]
    assert cells[0] == cells[1] and len(cells[0]) == 6 and len(of["sdpa"]) + len(of["eager"]) == len(found)
    fused = [any("scaled_dot_product" in name for name in operators(part)) for part in of.values()]
    assert fused == [True, False] and "aten::_softmax" in operators(of["eager"])


def test_state_spaces_have_no_attention():
    assert {row["attention"] for row in rows(tiny_reranker("mamba2"), lengths=[8])} == {"none"}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_arithmetic_is_that_of_the_setting(dtype):
    """The products of a forward pass, and of training, have it."""
    seen, model = set(), tiny_reranker("opt")
    layer = model.backbone.decoder.layers[0].fc1
    layer.register_forward_hook(lambda module, given, out: seen.add((model.training, out.dtype)))
    found = rows(model, dtype=dtype, attention=["sdpa"])
    assert seen == {(training, getattr(torch, dtype)) for training in (True, False)}
    assert {row["dtype"] for row in found} == {dtype}


@pytest.mark.parametrize("warmups", [0, 3])
def test_warm_ups_are_run_and_not_counted(warmups):
    model = Greedy(most=1000)
    found = rows(model, warmups=warmups, training_batches=[1], lengths=[8])
    assert {row["n"] for row in found if row["metric"] != "operator_share"} == {2}
    # Training, scoring, and one pass of the profile.
    assert len(model.seen) == 2 * (warmups + 2) + 1


def made(folder, found):
    """The frame of two models of one size, one timed as `found`, the other as it and with numbers everywhere."""
    whole = [{**row, "value": 3.0, "n": 2, "reason": ""} for row in found if not row["operator"]]
    sources = []
    for name, part in (("opt_350m", found), ("mamba2_370m", whole)):
        table = pandas.DataFrame([{**row, "kernels": "none", "device": "cpu"} for row in part])
        write_tsv(folder / f"{name}.tsv", table.astype({"value": "float64", "n": "Int64"}))
        about = {"model": name, "family": name.split("_")[0], "size": "large", "part": "speed"}
        keys = {key: key for key in ("length", "batch", "operator", "attention", "dtype", "kernels", "device")}
        sources.append(Source(path=folder / f"{name}.tsv", factors=about, keys=keys, data="random tokens"))
    missing = Missing(factors={"part": "document"}, reason="no documents")
    gathering = RESULTS.settings("paper", [*sources, missing], {})
    return frame_of(gather_rows(gathering), gathering)


def test_what_does_not_fit_goes_through_to_tables_comparison_and_figures(tmp_path):
    found = rows(Greedy(most=15), attention=["sdpa", "eager"], batch=1, lengths=[8, 512, 1536])
    frame = made(tmp_path, found)
    tables = {table.name: table.make(frame) for table in RESULTS.tables}
    fifth = tables["table5"]
    opt = fifth[(fifth["model"] == "opt_350m") & (fifth["attention"] == "sdpa")].set_index("length")
    assert opt["reason"].tolist() == ["", OUT, f"{OUT} with fewer or shorter sequences already"]
    assert opt["queries_per_second"].isna().tolist() == [False, True, True]
    assert len(fifth[fifth["attention"] == "eager"]) == 6 and set(fifth["size"]) == {"large"}
    assert tables["throughput"]["reason"].str.startswith(OUT).sum() == 4
    for name in ("table2", "table4"):
        assert not tables[name].astype(str).apply(lambda column: column.str.contains(OUT)).any(axis=None), name
    own = RESULTS.own(frame)
    beside = {
        length: speed(own, {"model": "OPT-350M", "length": length}, "queries_per_second") for length in ("512", "1536")
    }
    assert {one.ours for one in beside.values()} == {"OOM"} and OUT in beside["512"].note
    # Other tables of the same model lack a run, not memory.
    second = RESULTS.printed["table2"].find(own, {"model": "OPT-350M"}, "dev")
    assert second.ours == "" and "memory" not in second.note and "documents" not in second.note
    for figure in RESULTS.figures:
        path = tmp_path / f"{figure.table}.tsv"
        write_tsv(path, tables[figure.table])
        drawing = figure.draw(read_tsv(path), Drawn("paper", {}))
        panels = [axes for axes in drawing.axes if axes.get_visible()]
        if figure.name in ("figure1", "inference"):
            assert len(panels) == 1, "one size"
            names = {line.get_label() for axes in panels for line in axes.get_lines()}
            assert {"opt_350m", "OPT-350M, eager attention"} <= names


def test_figures_of_speed_have_a_panel_for_each_size(tmp_path):
    names = [("opt_350m", "large"), ("opt_1_3b", "billion")]
    frame = pandas.DataFrame(
        [{"model": name, "size": size, "attention": "sdpa", "length": length, "batch": 2, "queries_per_second": 1.0,
          "tokens_per_second": 1.0, "data": "random tokens"} for name, size in names for length in (8, 16)]
    )  # fmt: skip
    for name in ("figure1", "inference"):
        drawing = RESULTS.figure(name).draw(frame, Drawn("paper", {}))
        assert len([axes for axes in drawing.axes if axes.get_visible()]) == 2


def test_panels_of_operators_stand_in_rows_of_three():
    frame = pandas.DataFrame(
        [{"model": f"m{n}", "attention": "sdpa", "operator": f"aten::{name}", "share": share, "data": "random tokens"}
         for n in range(7) for name, share in (("mm", 60.0), ("add", 20.0))]
    )  # fmt: skip
    shown = [axes for axes in RESULTS.figure("figure2").draw(frame, Drawn("paper", {})).axes if axes.get_visible()]
    places = [(axes.get_subplotspec().rowspan.start, axes.get_subplotspec().colspan.start) for axes in shown]
    assert places == [(n // 3, n % 3) for n in range(7)]
