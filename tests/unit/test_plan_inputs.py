"""What makes a result again: an edit of what it was made from, and neither a word for people nor a date."""

from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.config.runtime import SCALES
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.planned_jobs import planned_jobs

ROOT = Path(__file__).parents[2]


def test_an_edited_licence_of_a_download_reaches_the_report_alone() -> None:
    config = load_config(ROOT, {"scale": "nano"})
    before = {(job.stage, job.key): job.digest for job in planned_jobs(make_plan(config), ROOT)}
    archives = config.datasets.archives
    assert "vader" in archives
    archives["vader"] = archives["vader"].model_copy(update={"licence": "CC0"})
    after = {(job.stage, job.key): job.digest for job in planned_jobs(make_plan(config), ROOT)}
    assert [name for name in before if before[name] != after[name]] == [("write_report", "all")]


@pytest.mark.parametrize("scale", SCALES)
def test_the_engine_compares_dates_of_results_alone(scale: str) -> None:
    """A file of the checkout, as the published tables, is known by its content: its date may be of the future."""
    jobs = list(planned_jobs(make_plan(load_config(ROOT, {"scale": scale})), ROOT))
    read = [
        path for job in jobs for value in job.inputs.values() for path in ([value] if isinstance(value, str) else value)
    ]
    assert [path for path in read if path and not path.startswith("results/")] == []
    published = [path for job in jobs for files in job.files.values() for path in files if isinstance(files, dict)]
    assert any(path.startswith("resources/published/") for path in published)


def test_every_published_file_is_known_to_a_job_by_its_content() -> None:
    """An edited caption in results.yaml once left a stale page."""
    files = {
        path
        for job in planned_jobs(make_plan(load_config(ROOT, {"scale": "nano"})), ROOT)
        for value in job.files.values()
        for path in ([value.rpartition(" ")[0]] if isinstance(value, str) else value)
    }
    there = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("resources/published/**/*") if path.is_file()}
    assert there - files == set() and len(there) > 50


def test_an_edited_column_of_a_printed_table_reaches_all_that_takes_names_from_it() -> None:
    plan, checked = make_plan(load_config(ROOT, {"scale": "nano"})), 0
    for path in ROOT.glob("resources/published/*/printed.yaml"):
        slug, own = path.parent.name, path.relative_to(ROOT).as_posix()
        for stage in ("tabulate_paper", "test_claims", "compare_published", "plot_figure", "audit_paper"):
            jobs = [job for key, job in plan.jobs[stage].items() if key.split("/")[0] == slug]
            assert jobs and all(own in str(job.files) for job in jobs), (slug, stage)
            checked += len(jobs)
    assert checked > 50
