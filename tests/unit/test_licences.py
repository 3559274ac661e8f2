"""A licence is for people: an edit of one reaches the report, and no result is made again."""

from pathlib import Path

from reprlab.config.load import load_config
from reprlab.papers.planned_jobs import planned_jobs
from reprlab.papers.planning import make_plan

ROOT = Path(__file__).parents[2]


def test_an_edited_licence_of_a_download_reaches_the_report_alone() -> None:
    config = load_config(ROOT, {"scale": "nano"})
    before = {(job.stage, job.key): job.digest for job in planned_jobs(make_plan(config), ROOT)}
    archives = config.datasets.archives
    assert "vader" in archives
    archives["vader"] = archives["vader"].model_copy(update={"licence": "CC0"})
    after = {(job.stage, job.key): job.digest for job in planned_jobs(make_plan(config), ROOT)}
    assert [name for name in before if before[name] != after[name]] == [("write_report", "")]
