"""Tables, claims, comparison and figures of the paper on intrinsic dimension, from a grid whose numbers are known."""

import math
from pathlib import Path

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from reprlab.artifacts.tables import write_tsv
from reprlab.papers.intrinsic_dimension.audit import audit
from reprlab.papers.intrinsic_dimension.claims import claim_rows
from reprlab.papers.intrinsic_dimension.comparison import compare
from reprlab.papers.intrinsic_dimension.figures import FIGURES, plot
from reprlab.papers.intrinsic_dimension.layouts import Cell, Grid, GridLayout
from reprlab.papers.intrinsic_dimension.tables import TABLES, build_table
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
PUBLISHED = sorted((ROOT / "resources/published/intrinsic-dimension").glob("*.tsv"))
LAYERS = 4
# Level of the curve by condition; a curve is level + layer / 10, so that the paper's AUC is 3/4 (level + 0.25).
LEVELS = {"icl_0": 10.0, "icl_1": 8.0, "icl_5": 14.0, "sft_1k": 11.0}
RIGHT = {"icl_0": 4, "icl_1": 5, "icl_5": 7, "sft_1k": 9}


def auc(level):
    return 0.75 * (level + 0.25)


def collection(folder, name, variants, right, sizes=("all", "half 0", "half 1", "half 2", "first 6")):
    """Files of a collection of 10 items: `variants` maps a variant to the level of its curve."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, parts = [], []
    for variant, level in variants.items():
        for layer in range(1, LAYERS + 1):
            for items in sizes:
                shift = {"half 0": -0.2, "half 1": 0.0, "half 2": 0.2}.get(items, 0.0)
                for estimator, factor in (("two_nn", 1.0), ("levina_bickel", 0.9)):
                    value = factor * (level + layer / 10) + shift
                    rows.append((variant, layer, items, estimator, value, None, 10, 0))
        labels = ["a", "b"] * 5
        guesses = [label if place < right else "x" for place, label in enumerate(labels)]
        about = {"variant": [variant] * 10, "id": [str(i) for i in range(10)], "label": labels, "prediction": guesses}
        parts.append(pyarrow.table({**about, "tokens": [7] * 10}))
    columns = ["variant", "layer", "items", "estimator", "id", "spread", "n_used", "n_zero"]
    write_tsv(folder / f"{name}.tsv", pandas.DataFrame(rows, columns=columns))
    pyarrow.parquet.write_table(pyarrow.concat_tables(parts), folder / f"{name}.parquet")
    return {"items": folder / f"{name}.parquet", "dimensions": folder / f"{name}.tsv"}


def cell(experiment, condition, files, variant="base", **more):
    about = {"model": "small", "dataset": "sst2", "data": "Data", "dtype": "bfloat16", "condition": condition}
    return Cell(**{**about, "experiment": experiment, "variant": variant, **files, **more})


@pytest.fixture
def grid(tmp_path):
    cells = []
    for condition, level in LEVELS.items():
        variant = "step-00000004" if condition == "sft_1k" else "base"
        files = collection(tmp_path, condition, {variant: level}, RIGHT[condition])
        k = int(condition[4:]) if condition.startswith("icl") else 0
        more = {"k": k, "step": 4 if condition == "sft_1k" else 0}
        cells.append(cell("comparison", condition, files, variant, **more))
        if condition != "sft_1k":
            cells += [cell(name, condition, files, **more) for name in ("icl_dynamics", "icl_unique")]
    levels = {0: 10.0, 2: 9.5, 4: 11.0}
    for split, extra in (("validation", 0.0), ("train", 1.0)):
        variants = {f"step-{step:08d}": level + extra for step, level in levels.items()}
        files = collection(tmp_path, f"ladder_{split}", variants, 6)
        cells += [
            cell("sft_dynamics", "sft_1k", files, variant, split=split, step=step)
            for step, variant in zip(levels, variants, strict=True)
        ]
    exact = collection(tmp_path, "float32", {"base": 10.1}, 4, sizes=("all",))
    base = {"items": tmp_path / "icl_0.parquet", "dimensions": tmp_path / "icl_0.tsv"}
    cells += [cell("precision", "icl_0", base), cell("precision", "icl_0", exact, dtype="float32")]
    again = collection(tmp_path, "icl_5_seed1", {"base": 16.0}, 5, sizes=("all",))
    first = {"items": tmp_path / "icl_5.parquet", "dimensions": tmp_path / "icl_5.tsv"}
    for files, seed in ((first, 42), (again, 1)):
        cells.append(cell("replication", "icl_5", files, k=5, cell_seed=seed))
    return Grid(
        scale="mini", cells=cells, datasets=["sst2", "cola"], conditions=list(LEVELS), norm="paper", confidence=0.95,
        seed=42, subset=6,
    )  # fmt: skip


EXPERIMENTS = {
    "accuracy": {"comparison"}, "accuracy_cells": {"comparison"}, "auc_heatmap": {"comparison"},
    "twonn_vs_mle": {"comparison"}, "id_layers": {"comparison", "sft_dynamics"}, "auc": {"comparison", "sft_dynamics"},
    "sft_dynamics": {"sft_dynamics"}, "icl_dynamics": {"icl_dynamics"}, "icl_unique": {"icl_unique"},
    "precision": {"precision"}, "seeds": {"replication"},
}  # fmt: skip


def table(name, grid):
    part = grid.model_copy(update={"cells": [one for one in grid.cells if one.experiment in EXPERIMENTS[name]]})
    return TABLES[name](part)


def test_every_table_has_a_test():
    assert set(EXPERIMENTS) == set(TABLES)


def test_accuracy(grid):
    found = table("accuracy", grid)
    assert found["dataset"].tolist() == ["sst2", "cola"]
    assert found.loc[0, list(LEVELS)].tolist() == [0.4, 0.5, 0.7, 0.9]
    assert found.loc[0, "majority"] == 0.5
    assert "icl_0, icl_1, icl_5" in found.loc[0, "note"] and "sft_1k" not in found.loc[0, "note"]
    assert found.loc[1, "note"] == "no data at scale mini" and math.isnan(found.loc[1, "icl_0"])
    cells = table("accuracy_cells", grid).set_index("condition")
    assert cells.loc["sft_1k", "learned"] == "learned" and cells.loc["icl_1", "learned"] == "not learned"
    assert cells.loc["icl_5", "low"] < 0.7 < cells.loc["icl_5", "high"]


def test_areas(grid):
    found = table("auc", grid).query("estimator == 'two_nn' and experiment == 'comparison'").set_index("condition")
    for condition, level in LEVELS.items():
        assert found.loc[condition, "auc_paper"] == pytest.approx(auc(level))
        assert found.loc[condition, "auc_upstream"] == pytest.approx(auc(level) * 4 / 3)
    # Halves lie 0.15 below, at and above the value: the standard deviation is 0.15, with 2 degrees of freedom.
    reach = 4.302653 * 0.15
    assert found.loc["icl_0", "high"] - found.loc["icl_0", "auc_paper"] == pytest.approx(reach, rel=1e-5)
    pairs = table("auc_heatmap", grid).query("estimator == 'two_nn'").set_index(["condition_1", "condition_2"])
    assert pairs.loc[("icl_5", "sft_1k"), "difference_paper"] == pytest.approx(0.75 * 3)
    assert len(pairs) == 6


def test_dynamics(grid):
    found = table("sft_dynamics", grid).set_index(["split", "step"])
    assert found.loc[("validation", 2), "auc_paper"] == pytest.approx(auc(9.5))
    assert found.loc[("train", 4), "auc_equal_n"] == pytest.approx(auc(12.0))
    assert (found["accuracy"] == 0.6).all() and len(found) == 6
    shots = table("icl_dynamics", grid)
    assert shots["k"].tolist() == [0, 1, 5] and shots["accuracy"].tolist() == [0.4, 0.5, 0.7]
    assert len(table("icl_unique", grid)) == 3


def test_estimators_and_precision(grid):
    scatter = table("twonn_vs_mle", grid)
    assert len(scatter) == 4 * LAYERS and scatter["pearson"].iloc[0] == pytest.approx(1)
    precision = table("precision", grid).query("estimator == 'two_nn' and layer == 1").iloc[0]
    assert (precision["bfloat16"], precision["float32"]) == (pytest.approx(10.1), pytest.approx(10.2))
    assert precision["relative_difference"] == pytest.approx(10.1 / 10.2 - 1)
    other = {"bfloat16": "float32", "float32": "bfloat16"}
    turned = [one.model_copy(update={"dtype": other[one.dtype]}) for one in grid.cells if one.experiment == "precision"]
    precision = TABLES["precision"](grid.model_copy(update={"cells": turned}))
    assert not precision.duplicated(["layer", "estimator"]).any() and len(precision) == 2 * LAYERS
    precision = precision.query("estimator == 'two_nn' and layer == 1").iloc[0]
    assert (precision["float32"], precision["bfloat16"]) == (pytest.approx(10.1), pytest.approx(10.2))
    assert len(table("id_layers", grid).query("experiment == 'comparison'")) == 4 * LAYERS * 2


def verdicts(grid):
    return {row.id: row for row in claim_rows(grid)}


def test_spread_over_seeds(grid):
    """T11: curves of 14 and 16 at levels, 7 and 5 right answers of 10."""
    found = table("seeds", grid).set_index("measure")
    assert found.loc["auc_two_nn", ["seeds", "n_seeds"]].tolist() == ["42 1", 2]
    assert found.loc["auc_two_nn", "mean"] == pytest.approx(auc(15.0))
    assert found.loc["auc_two_nn", "sd"] == pytest.approx(0.75 * 2 / math.sqrt(2))
    assert found.loc["auc_two_nn", ["lowest", "highest"]].tolist() == pytest.approx([auc(14.0), auc(16.0)])
    assert found.loc["accuracy", ["mean", "lowest", "highest"]].tolist() == pytest.approx([0.6, 0.5, 0.7])
    assert set(found.index) == {"auc_two_nn", "auc_levina_bickel", "accuracy"}
    none = table("seeds", grid.model_copy(update={"cells": []}))
    assert none["seeds"].isna().all() and none["note"].item().endswith("replication.seeds is empty")


def test_claims(grid):
    found = verdicts(grid)
    assert list(found) == [f"I{number}" for number in range(1, 13)]
    assert found["I1"].estimate == pytest.approx(0.75) and found["I1"].verdict == "supported"
    assert found["I3"].estimate == pytest.approx(1)
    assert found["I4"].estimate == pytest.approx(0.75 * 4) and found["I4"].verdict == "supported"
    assert found["I8"].estimate == pytest.approx(0.75 * 3)
    assert found["I9"].estimate == pytest.approx(0.75 * 2)
    assert found["I10"].estimate == pytest.approx(0.2)
    assert found["I12"].estimate == pytest.approx(1)
    assert {id for id, row in found.items() if row.verdict == "not testable at this scale"} == {"I6", "I7", "I11"}
    assert found["I7"].estimate == 1


def test_claims_can_fail_and_can_lack_evidence(grid):
    swapped = {"icl_0": "icl_5", "icl_5": "icl_0"}
    cells = [one.model_copy(update={"condition": swapped.get(one.condition, one.condition)}) for one in grid.cells]
    found = verdicts(grid.model_copy(update={"cells": cells}))
    assert found["I4"].verdict == "not supported" and found["I4"].estimate == pytest.approx(-3)
    assert {row.verdict for row in verdicts(grid.model_copy(update={"scale": "nano"})).values()} == {
        "not testable at this scale"
    }
    same = [one.model_copy(update={"condition": "icl_5"}) if one.condition == "icl_0" else one for one in grid.cells]
    same = [one for one in same if one.condition != "icl_5" or one.items.stem != "icl_5"]
    tied = [*same, *(one.model_copy(update={"condition": "icl_0"}) for one in same if one.condition == "icl_5")]
    tie = verdicts(grid.model_copy(update={"cells": tied}))["I4"]
    assert (tie.estimate, tie.low, tie.high, tie.verdict) == (0, 0, 0, "inconclusive")
    only = [one for one in grid.cells if one.condition == "icl_0" and one.experiment == "comparison"]
    few = verdicts(grid.model_copy(update={"cells": only}))
    assert few["I8"].verdict == "inconclusive" and few["I8"].note == "not run at scale mini"


def test_figures_and_comparison(grid, tmp_path):
    paths = []
    for name in TABLES:
        paths.append(tmp_path / "tables" / f"{name}.tsv")
        write_tsv(paths[-1], table(name, grid))
    for figure in FIGURES:
        png, svg = tmp_path / f"{figure}.png", tmp_path / f"{figure}.svg"
        plot(figure, paths, PUBLISHED, "mini", png, svg)
        assert png.stat().st_size > 5_000 and svg.stat().st_size > 5_000
    rows = compare(paths, PUBLISHED, "mini").set_index(["row", "column"])
    # 8 data sets by 6 conditions, and the statements.
    assert len(rows) == 48 + 11
    assert rows.loc[("Table 1: dataset=sst2", "icl_5"), "ours"] == "0.700"
    assert rows.loc[("Table 1: dataset=sst2", "icl_10"), "note"] == "icl_10 is not run at scale mini"
    assert rows.loc[("Table 1: dataset=mmlu", "icl_0"), "note"] == "no data for mmlu at scale mini"
    assert rows.loc[("Appendix F: quantity=twonn_mle_pearson", "value"), "ours"] == "1.00"
    assert rows["published"].notna().all() and ((rows["ours"] != "") | (rows["note"] != "")).all()


LAYOUT = GridLayout(
    scale="mini", experiments=["comparison", "sft_dynamics", "icl_unique"], data={"sst2": "A"},
    unique_data={"sst2": "B"}, datasets=["sst2"], conditions=["icl_0", "sft_1k"], norm="paper", confidence=0.9, seed=1,
    collected=[
        {"key": "m/id_sst2/icl_0", "name": "sst2", "experiments": ["comparison", "icl_unique"]},
        {"key": "m/id_sst2/sft_9_validation", "name": "sst2", "experiments": ["comparison", "sft_dynamics"],
         "steps": [0, 4, 9], "compared": 9},
    ],
)  # fmt: skip


def test_a_layout_stands_for_its_cells():
    cells = LAYOUT.grid().cells
    assert [(one.experiment, one.condition, one.step, one.variant, one.data) for one in cells] == [
        ("comparison", "icl_0", 0, "base", "A"),
        ("comparison", "sft_1k", 9, "step-00000009", "A"),
        ("sft_dynamics", "sft_1k", 0, "step-00000000", "A"),
        ("sft_dynamics", "sft_1k", 4, "step-00000004", "A"),
        ("sft_dynamics", "sft_1k", 9, "step-00000009", "A"),
        ("icl_unique", "icl_0", 0, "base", "B"),
    ]
    assert {str(one.items) for one in cells} < {str(path) for path in LAYOUT.paths()}
    again = GridLayout.model_validate(LAYOUT.model_dump(mode="json", exclude_defaults=True))
    assert again == LAYOUT


def test_bad_input(grid, tmp_path):
    with pytest.raises(ReprlabError, match="no such table"):
        build_table("nothing", LAYOUT.model_dump_json(), [])
    with pytest.raises(ReprlabError, match="is not among the inputs"):
        build_table("auc", LAYOUT.model_dump_json(), [])
    with pytest.raises(ReprlabError, match="layout of auc: scale"):
        build_table("auc", '{"cells": 1}', [])
    strange = grid.model_copy(update={"cells": [grid.cells[0].model_copy(update={"variant": "step-00000009"})]})
    with pytest.raises(ReprlabError, match="has no variant step-00000009"):
        table("auc", strange)


def test_audit():
    rows = {row.id: row for row in audit(PUBLISHED, ROOT / "config/models.yaml")}
    assert {id.split(".")[1].rstrip("abcdefghijklmnopqrstuvwxyz") for id in rows if id.startswith("5.")} == {
        str(number) for number in range(1, 13)
    }
    differs = {id for id, row in rows.items() if row.verdict == "differs"}
    # 62 steps an epoch; QQP and CommonsenseQA below the most frequent class; A to D; disjoint sets; falls.
    assert differs == {"5.9a", "5.10j", "5.10m", "8.2", "8.3", "8.4b"}
    assert "icl_0, icl_1, icl_2, icl_5, icl_10" in rows["5.10j"].note
    assert rows["8.4b"].recomputed == "6 falls"
    assert [id for id, row in rows.items() if row.verdict == "not checkable"] == ["8.1"]
