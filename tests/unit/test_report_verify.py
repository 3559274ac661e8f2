"""`make verify` names what is not as it was made."""

from pathlib import Path

import numpy as np
import pytest
from reprlab.artifacts.json_files import read_json
from reprlab.config.load import load_config
from reprlab.config.resolved import settings_text
from reprlab.reporting import verify
from reprlab.reporting.provenance import digest, write_provenance
from reprlab.runtime.files import write_text

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path("results/depth/glue.tsv")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text(TABLE, "seed\tsst2\n1\t55.0\n")
    write_provenance(TABLE, stage="tabulate_paper", settings={}, inputs=[])
    write_text(Path("results/shared/tokens/a.parquet"), "tokens")
    return tmp_path


def test_the_record_holds_the_digest_of_its_result(run):
    assert read_json(TABLE.with_suffix(".provenance.json"))["sha256"] == digest(TABLE)


def test_untouched_results_pass(run, capsys):
    assert verify.main([str(run)]) == 0
    assert "as it was made" in capsys.readouterr().out


def test_an_edited_table_is_named_once(run, capsys):
    TABLE.write_text("seed\tsst2\n1\t95.0\n")
    assert verify.main([str(run)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [str(TABLE) in line for line in lines] == [True, False]


def test_a_table_without_seals_is_held_against_its_record(run, capsys):
    for seal in (run / "results/.seals").rglob("*.json"):
        seal.unlink()
    TABLE.write_text("seed\tsst2\n1\t95.0\n")
    assert verify.main([str(run)]) == 1
    assert "glue.tsv: is not the result that glue.provenance.json describes" in capsys.readouterr().out
    TABLE.unlink()
    assert list(verify.problems(run)) == [f"{TABLE}: is missing; run again"]


@pytest.mark.parametrize("content", ["{", "[]", '{"result": "glue.tsv"}'])
def test_a_damaged_record_is_named(run, content):
    TABLE.with_suffix(".provenance.json").write_text(content)
    for seal in (run / "results/.seals").rglob("*.json"):
        seal.unlink()
    (line,) = verify.problems(run)
    assert "glue.provenance.json" in line
    assert "\n" not in line


def test_damage_in_a_shared_file_of_the_same_size_is_named(run):
    Path("results/shared/tokens/a.parquet").write_text("tokenz")
    (line,) = verify.problems(run)
    assert "results/shared/tokens/a.parquet" in line


def test_benchmarks_that_were_cut_off_are_left_out(tmp_path):
    from reprlab.reporting.benchmarks import read_benchmarks

    folder = tmp_path / "train"
    folder.mkdir()
    good = "s\th:m:s\tmax_rss\n2.5\t0:00:02\t100.0\n"
    for length in range(len(good) + 1):
        (folder / f"job{length}.tsv").write_text(good[:length])
    found = read_benchmarks(tmp_path)
    assert found["seconds"].max() == 2.5
    assert set(found["seconds"]) <= {2.0, 2.5}


@pytest.mark.parametrize(("scales", "peak"), [([], 100.0), (["mini"], 100.0), (["nano"], 512.5)])
def test_memory_of_jobs_that_were_forked_stands_in_their_logs(tmp_path, scales, peak):
    from reprlab.reporting.benchmarks import by_stage, read_benchmarks

    for folder in ("benchmarks/train", "logs/train"):
        (tmp_path / folder).mkdir(parents=True)
    for job in ("job", "killed", "gone"):
        (tmp_path / f"benchmarks/train/{job}.tsv").write_text("s\th:m:s\tmax_rss\n2.5\t0:00:02\t100.0\n")
    (tmp_path / "logs/train/job.log").write_text("$ python\nused 512.5 MB at most, 3.0 CPU seconds\n")
    (tmp_path / "logs/train/killed.log").write_text("$ python\n2026-11-23 INFO training: 1 of 2\n")
    config = load_config(ROOT, {"scale": "nano", "runtime": {"preloaded": scales}})
    (tmp_path / "settings.yaml").write_text(settings_text(config))
    (stage,) = by_stage(read_benchmarks(tmp_path / "benchmarks")).to_dict("records")
    assert (stage["seconds"], stage["peak_mb"]) == (7.5, peak)


def test_stage_says_in_its_log_what_it_took(tmp_path):
    from reprlab.runtime.cli import run_stage
    from reprlab.runtime.log import used

    def nothing() -> None:
        """Do nothing."""

    log = tmp_path / "job.log"
    with pytest.raises(SystemExit):
        run_stage(nothing, ["--log", str(log)])
    assert 10 < used(log)[0] < 50_000 and used(log)[1] > 0
    assert np.isnan(used(tmp_path / "none.log")).all()
