"""Only the papers that are asked for are checked and planned; what is planned of them does not depend on the others."""

from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.config.papers import NEIGHBOURS, SLUGS, papers_needed
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.run_plan import RunPlan
from reprlab.results.records import has_neighbours
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("targets", "found"),
    [
        ([], ["depth", "vocab-memory"]),
        (["all"], ["depth", "vocab-memory"]),
        (["results/report.html"], ["depth", "vocab-memory"]),
        (["results/shared/tokens/a.parquet"], ["depth", "vocab-memory"]),
        (["dpeth"], ["depth", "vocab-memory"]),
        (["amuro_char"], ["amuro-char"]),
        (["results/amuro-char/cost.tsv", "ssm-rerankers"], ["amuro-char", "ssm-rerankers"]),
        (["results/amuro_char/cost.tsv"], ["depth", "vocab-memory"]),
        (["results/amuro-char/cost.tsv", "all"], ["depth", "vocab-memory", "amuro-char"]),
    ],
)
def test_the_papers_that_targets_need(targets: list[str], found: list[str]) -> None:
    assert papers_needed(targets, ["vocab-memory", "depth"]) == tuple(found)


@pytest.mark.parametrize("scale", ["nano", "paper"])
def test_a_paper_planned_alone_has_the_jobs_that_it_has_among_all(scale: str) -> None:
    together = RunPlan(make_plan(load_config(ROOT, {"scale": scale})), ROOT).jobs
    planned = {}
    for slug in SLUGS:
        alone = RunPlan(make_plan(load_config(ROOT, {"scale": scale}, targets=[slug])), ROOT).jobs
        assert alone and all(together[name].digest == job.digest for name, job in alone.items()), slug
        planned |= alone
    # The table of neighbours is that of a paper alone where no other one declares some.
    assert set(together) - set(planned) - {("gather_neighbours", "all")} == {("write_report", "all")}


def test_the_table_of_neighbours_needs_the_papers_that_declare_some() -> None:
    declaring = [slug for slug in SLUGS if has_neighbours(slug)]
    assert "universal-features" in declaring and "depth" not in declaring
    assert papers_needed([NEIGHBOURS], SLUGS) == tuple(declaring)
    assert papers_needed([NEIGHBOURS], ["depth", "universal-features"]) == ("universal-features",)
    assert papers_needed([NEIGHBOURS, "amuro-char"], ["universal-features"]) == ("amuro-char", "universal-features")
    assert papers_needed([NEIGHBOURS], ["event-relations", "depth"]) == ("depth", "event-relations"), (
        "a table without rows"
    )


def test_the_report_is_planned_with_all_that_it_shows_and_shows_nothing_else() -> None:
    build = {"scale": "nano", "build": ["depth"]}
    assert "write_report" not in make_plan(load_config(ROOT, build, targets=["amuro-char"])).jobs
    alone = make_plan(load_config(ROOT, build)).jobs
    beside = make_plan(load_config(ROOT, build, targets=["all", "amuro-char"])).jobs
    assert "build_completions" in beside and "build_completions" not in alone
    assert beside["write_report"] == alone["write_report"]


def test_settings_of_another_paper_are_read_only_when_they_are_looked_up_unless_they_are_edited(tmp_path: Path) -> None:
    (tmp_path / "config/papers").mkdir(parents=True)
    for name in ("config.yaml", "models.yaml", "datasets.yaml", "papers/depth.yaml"):
        (tmp_path / "config" / name).write_text((ROOT / "config" / name).read_text(encoding="utf-8"))
    (tmp_path / "config/papers/amuro-char.yaml").write_text("nothing: of the kind\n")
    config = load_config(tmp_path, {"scale": "nano"}, targets=["depth"])
    assert config.needed == ("depth",) and config.papers["depth"].corruption
    with pytest.raises(ReprlabError, match="amuro-char"):
        config.papers["amuro-char"]
    with pytest.raises(ReprlabError, match="amuro-char"):
        load_config(tmp_path, {"scale": "nano", "build": ["amuro-char"]})
    with pytest.raises(ReprlabError, match="unknown key; did you mean 'finetuning'"):
        load_config(ROOT, {"set": "papers.amuro-char.finetunin=1"}, targets=["depth"])
