"""What the engine shows of its jobs, from records such as it makes."""

import io
import logging
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from reprlab.planning.measured_tables import JOBS, job_seconds
from reprlab.runtime import log as runtime_log
from reprlab.runtime import progress
from reprlab.runtime.files import write_text
from reprlab.terminal import command
from reprlab.terminal.display import Display
from reprlab.terminal.engine import show_run, view_of
from reprlab.terminal.estimate import Estimate, in_words, measured_seconds
from reprlab.terminal.hints import TargetHints
from reprlab.terminal.jobs import Jobs
from reprlab.terminal.tables import show_made
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_reprlab import LogHandler, name_settings


def record(message="", level=logging.INFO, **fields):
    made = logging.LogRecord("snakemake.logging", level, "", 1, message, (), None)
    vars(made).update(fields)
    return made


@pytest.fixture
def shown(tmp_path):
    """A display of three planned jobs, and what it has written since the last question."""
    stream = io.StringIO()
    display = Display(Jobs(Estimate({"train": 600.0, "fetch": 6.0})), tmp_path, stream, {"fetch": 1}.get)
    display.called_from = tmp_path
    display.emit(record("Provided cores: 2", event=LogEvent.RESOURCES_INFO, cores=2))
    display.emit(record("Job stats", event=LogEvent.RUN_INFO, stats={"fetch": 1, "train": 2, "total": 3}))
    display.retries = lambda rule: {"fetch": 1}.get(rule, 0)

    def emit(*records):
        for one in records:
            display.emit(one)
        lines = stream.getvalue().splitlines()
        stream.seek(0)
        stream.truncate()
        return lines

    emit.display = display
    yield emit
    display.end()


def start(number, rule, log="x.log", output=()):
    title = f"{rule.title()} number {number}"
    return record(event=LogEvent.JOB_INFO, jobid=number, rule_name=rule, rule_msg=title, log=[log], output=output)


def finish(number):
    return record(event=LogEvent.JOB_FINISHED, job_id=number)


def fail(number):
    return record("Error in rule", logging.ERROR, event=LogEvent.JOB_ERROR, jobid=number, log=["x.log"])


def test_a_run_tells_how_much_there_is_and_how_far_it_is(shown):
    assert shown() == ["3 jobs, 2 at once, about 10 min left"]
    assert shown(start(1, "fetch"), start(2, "train")) == []
    (line,) = shown(finish(1))
    assert line.startswith("1 of 3 jobs, about ") and line.endswith(" left: Fetch number 1 (0 s)")
    *_, last = shown(start(3, "train"), finish(2), finish(3), record("Elapsed time: 0:00:01"))
    assert last == "3 of 3 jobs done in 0 s; results are in results"


def test_a_run_that_made_the_report_ends_with_its_name(shown):
    shown()
    *_, last = shown(
        start(1, "write_report", output=["results/report.html"]), finish(1), record("Elapsed time: 0:00:01")
    )
    assert last.endswith("; the report is results/report.html")


def test_no_shell_and_no_chatter(shown):
    shown()
    chatter = [
        "Building DAG of jobs...", "Using shell: /usr/bin/bash", "Select jobs to execute...", "Complete log(s): x",
        "Shutting down, this might take some time.",
    ]  # fmt: skip
    commands = record("Shell command: python …", event=LogEvent.SHELLCMD, shellcmd="python …")
    assert shown(commands, *map(record, chatter)) == []
    assert shown(record("Nothing to be done (all is there).")) == ["Nothing to be done (all is there)."]
    assert shown(record("disk is nearly full", logging.WARNING)) == ["disk is nearly full"]


def test_a_failure_is_told_once_with_rule_reason_and_log(shown, tmp_path):
    shown()
    (tmp_path / "x.log").write_text("$ python …\n2026-01-01 INFO starts\nTraceback …\nerror: x.parquet: is damaged\n")
    lines = shown(
        start(2, "train"),
        record("CalledProcessError …", logging.ERROR, event=LogEvent.ERROR, exception="CalledProcessError"),
        fail(2),
        record("Exiting because a job execution failed. Look above for error messages", logging.ERROR),
        record("Elapsed time: 0:00:01"),
        record("WorkflowError:\nAt least one job did not complete successfully.", logging.ERROR, event=LogEvent.ERROR,
               exception="WorkflowError"),
    )  # fmt: skip
    assert lines == [
        "failed: train (Train number 2)",
        "error: x.parquet: is damaged",
        "  log: x.log",
        "1 failed, 0 of 3 jobs done in 0 s; mend it and run the same command to go on",
    ]


def test_a_job_that_is_tried_again_has_not_failed(shown, tmp_path):
    shown()
    (tmp_path / "x.log").write_text("error: no network\n")
    assert shown(start(1, "fetch"), fail(1)) == ["tried again: Fetch number 1 (no network)"]
    assert shown(start(1, "fetch"), fail(1))[0] == "failed: fetch (Fetch number 1)"


def test_a_job_that_was_killed_leaves_no_reason(shown):
    shown()
    assert "killed" in shown(start(2, "train", "none.log"), fail(2))[1]


def test_an_interrupt_ends_with_what_to_do(shown):
    shown()
    lines = shown(
        start(2, "train"), record("Terminating processes on user request, this might take some time."), fail(2),
        record("Elapsed time: 0:00:01"),
    )  # fmt: skip
    assert lines[-1] == "stopped, 0 of 3 jobs done in 0 s; run the same command to go on"
    assert not any(line.startswith(("failed", "error")) for line in lines)


def test_warnings_of_a_stage_reach_the_user(shown, tmp_path):
    shown()
    (tmp_path / "x.log").write_text("2026-01-01 10:00:00,000 WARNING vader: damaged; deleted and fetched again\n")
    warning = "  warning: vader: damaged; deleted and fetched again"
    assert shown(start(1, "fetch"), finish(1))[1] == warning
    assert shown(start(1, "fetch"), fail(1))[1] == warning, "also where it is tried again"
    assert warning in shown(start(1, "fetch"), fail(1)), "and where it failed"


def test_an_estimate_is_what_is_left_over_the_lanes():
    estimate = Estimate({"a": 10.0, "b": 100.0})
    assert estimate.left(Counter(a=4), [], lanes=2) == 20
    assert estimate.left(Counter(), [("b", 30.0)], lanes=2) == 70
    assert estimate.left(Counter(a=4, b=1), [], lanes=8) == 100, "the longest job bounds it"
    estimate.saw("a", 20.0)
    assert estimate.seconds("b") == 200, "this machine is half as fast as the earlier run's"
    assert Estimate({}).left(Counter(a=1), [], lanes=1) is None


def test_seconds_of_an_earlier_run(tmp_path):
    for name, text in {"a/x.tsv": "s\th\n2.0\t0\n", "a/b/y.tsv": "s\th\n4.0\t0\n", "c/z.tsv": "damaged"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert measured_seconds(tmp_path) == {"a": 3.0}
    assert measured_seconds(tmp_path / "none") == {}


def test_a_first_run_is_estimated_by_what_jobs_took_on_another_machine(tmp_path):
    (tmp_path / "resources").mkdir()
    write_text(tmp_path / JOBS, "rule\tscale\tseconds\ntrain\tmini\t60\ntrain\tnano\t1\nfetch\tmini\t5\n")
    (tmp_path / "results/benchmarks/fetch").mkdir(parents=True)
    (tmp_path / "results/benchmarks/fetch/x.tsv").write_text("s\n2.0\n")
    view = view_of(tmp_path, {}.get, io.StringIO(), seconds=job_seconds(tmp_path, "mini"))
    assert view.jobs.estimate.seconds("train") == 60
    assert view.jobs.estimate.seconds("fetch") == 2, "this folder's own goes first"
    assert job_seconds(tmp_path / "none", "mini") == {}


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "0 s"), (89, "89 s"), (100, "2 min"), (7800, "2 h 10 min")])
def test_durations_in_words(seconds, words):
    assert in_words(seconds) == words


def test_how_far_a_job_is_stands_beside_its_log(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_FILES", 0.0)
    monkeypatch.setattr(progress, "_file", None)
    progress.report_beside(tmp_path / "x.log")
    steps = progress.track(range(64), "training")
    next(steps), next(steps), next(steps)
    assert (tmp_path / "x.log.progress").read_text() == "training: 2 of 64\n"
    steps.close()
    for _ in progress.track(["a", "b"], "models"):
        list(progress.track(range(8), "training"))
        written = (tmp_path / "x.log.progress").read_text()
    assert written == "models: 1 of 2, training: 8 of 8\n"


def plugin(**asked):
    names = ("dryrun", "quiet", "verbose", "debug_dag", "printshellcmds")
    return LogHandler(SimpleNamespace(**(dict.fromkeys(names) | asked)), None)


def engine(*handlers, **about):
    """As much of the engine's workflow as the view asks for."""
    return SimpleNamespace(
        is_main_process=True,
        logger_manager=SimpleNamespace(get_log_handlers=lambda: handlers),
        output_settings=SimpleNamespace(show_failed_logs=True),
        **about,
    )


def test_the_plugin_is_given_the_view_and_passes_records_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(runtime_log.SHOWN_BY_ENGINE, "")
    handler = plugin()
    handler.emit(record("Building DAG of jobs..."))
    handler.emit(record("SyntaxError in file Snakefile", logging.ERROR))
    assert capsys.readouterr().err == "SyntaxError in file Snakefile\n"
    show_run(engine(handler), tmp_path, list)
    assert os.environ[runtime_log.SHOWN_BY_ENGINE] == "1" and handler.view.show_logs
    handler.emit(record("something to know"))
    assert capsys.readouterr().err == "something to know\n"


def test_the_view_of_the_user_stays(tmp_path, monkeypatch):
    monkeypatch.setenv(runtime_log.SHOWN_BY_ENGINE, "1")
    show_run(engine(logging.StreamHandler()), tmp_path, list)
    assert not os.environ.get(runtime_log.SHOWN_BY_ENGINE)


@pytest.mark.parametrize("other", ["dryrun", "quiet", "verbose", "debug_dag", "printshellcmds"])
def test_other_views_are_the_engines(other, tmp_path, monkeypatch, capsys):
    monkeypatch.delenv(runtime_log.SHOWN_BY_ENGINE, raising=False)
    assert plugin().writes_to_stream
    handler = plugin(**{other: True})
    assert not handler.writes_to_stream
    show_run(engine(handler), tmp_path, list)
    handler.emit(record("a job has failed", logging.ERROR))
    assert handler.view is None and capsys.readouterr().err == ""
    assert runtime_log.SHOWN_BY_ENGINE not in os.environ


def test_a_full_disk_does_not_swallow_the_reason(tmp_path):
    (tmp_path / "stage.py").write_text(
        "from pathlib import Path; from reprlab.runtime.log import _divert, write_error\n"
        "_divert(Path('/dev/full')); write_error('error: the disk is full\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "stage.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.stderr == "error: the disk is full\n"


def test_a_stage_that_is_shown_writes_to_its_log_alone(tmp_path):
    (tmp_path / "stage.py").write_text(
        "import os; from pathlib import Path; from reprlab.runtime.log import configure_logging, get_logger\n"
        "configure_logging('info', Path('x.log')); get_logger().info('hello'); os.write(2, b'noise\\n')\n"
        "get_logger().warning('careful')\n"
    )
    for shown_by_engine, expected in (("", "hello\nnoise\ncareful\n"), ("1", "")):
        done = subprocess.run(
            [sys.executable, "stage.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, runtime_log.SHOWN_BY_ENGINE: shown_by_engine},
        )  # fmt: skip
        assert done.stderr == expected
    first, hello, noise, careful = (tmp_path / "x.log").read_text().splitlines()
    assert first.endswith(" stage.py") and first.startswith("$ ")
    assert hello.endswith("INFO hello") and noise == "noise" and careful.endswith("WARNING careful")
    assert {path.name for path in tmp_path.iterdir()} == {"stage.py", "x.log"}


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("results/deth/glue.tsv", "did you mean 'results/depth/glue.tsv'?"),
        ("deth", "did you mean 'depth'?"),
        ("vocab_memry", "did you mean 'vocab_memory'?"),
        ("x" * 40, "`make list` shows what there is, `make help` the goals"),
        ("install", "did you mean `make setup`?"),
        ("glue", "did you mean 'results/depth/glue.tsv'?"),
        ("glue.tsv", "did you mean 'results/depth/glue.tsv'?"),
        ("results/depth/", "it is a folder: did you mean 'depth', all of the paper?"),
        ("results/shared", "it is a folder: did you mean 'results/shared/a.tsv' or another file in it?"),
    ],
)
def test_a_mistyped_target_is_answered_with_the_nearest(typed, hint):
    targets = [
        "depth",
        "vocab_memory",
        "results/depth/glue.tsv",
        "results/shared/a.tsv",
        *(f"results/depth/{n}.tsv" for n in range(20)),
    ]
    said = record(
        f"MissingRuleException:\nNo rule to produce {typed} (if you use input functions make sure that …).",
        logging.ERROR, event=LogEvent.ERROR, exception="MissingRuleException",
    )  # fmt: skip
    assert TargetHints(lambda: targets).filter(said)
    assert said.getMessage() == f"error: {typed}: no such target; {hint}"


def test_the_reason_is_in_the_log_of_a_stage_run_elsewhere(tmp_path):
    """As on a cluster, where standard error is the scheduler's."""
    (tmp_path / "stage.py").write_text(
        "from pathlib import Path; from reprlab.runtime.log import configure_logging, write_error\n"
        "configure_logging('info', Path('x.log')); write_error('error: no such file\\n')\n"
    )
    environment = {**os.environ, runtime_log.SHOWN_BY_ENGINE: ""}
    done = subprocess.run(
        [sys.executable, "stage.py"], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment
    )
    assert done.stderr == "error: no such file\n"
    assert (tmp_path / "x.log").read_text().endswith("\nerror: no such file\n")


def test_the_log_is_shown_where_asked(shown, tmp_path):
    shown()
    (tmp_path / "x.log").write_text("first\nerror: damaged\n")
    shown.display.show_logs = True
    assert shown(start(2, "train"), fail(2))[2:] == ["  log: x.log", "    first", "    error: damaged"]


def test_a_setting_that_the_engine_refuses_is_one_line(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["snakemake", "--config", "scale=nano", "papers.depth.x=5"])
    said = record("Traceback …\nValueError: Invalid config definition: Config entry must …", logging.ERROR)
    assert name_settings(said)
    assert said.getMessage().endswith('is typed --config set="papers.depth.x=5"')
    other = record("Building DAG of jobs...")
    assert name_settings(other) and other.getMessage() == "Building DAG of jobs..."


def test_a_target_behind_config_is_told_where_the_dashes_belong(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["snakemake", "-n", "--config", "scale=nano", "results/depth/glue.tsv"])
    said = logging.makeLogRecord({"msg": "Invalid config definition: Config entry must be a pair"})
    assert name_settings(said)
    assert "write -- before it: … --config scale=nano -- results/depth/glue.tsv" in said.getMessage()


TABLE = (
    "model\tsst2\tcola\tscale\tn\tlow_sst2\tabove_trivial_sst2\tabove_untrained_sst2\n"
    "majority\t50.0\t0.0\tmini\t9\t41\t\t\n"
    "t5\t70.2333\t12.5\tmini\t9\t67\tabove\tnot above\n"
)


def test_what_a_run_made_is_shown_with_where_to_go_on(tmp_path):
    made = [Path("results/depth/glue.tsv"), Path("results/depth/claims.tsv")]
    for path, text in zip(made, (TABLE, "claim\tverdict\nA\tsupported\nB\tsupported\n"), strict=True):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    shown = {}
    for width in (80, 16):
        console = Console(file=io.StringIO(), width=width)
        show_made(console, tmp_path, made, "", ["scale=nano"])
        shown[width] = [line.rstrip() for line in console.file.getvalue().splitlines()]
    title, head, majority, t5, legend, claims, page = shown[80]
    assert title == "results/depth/glue.tsv" and head.split() == ["model", "sst2", "cola"]
    assert majority.split() == ["majority", "50", "0"] and t5.split() == ["t5", "70.23", "✓", "▽", "12.5"]
    assert legend == "✓✗ above the trivial baseline or not; ▲▽ above the untrained model or not"
    assert claims == "claims of depth: 2 supported"
    assert page == "next: make report SET='scale=nano; build=[depth]'   # all of it as one page"
    assert shown[16][1].split() == ["model"] and "2 more columns" in " ".join(shown[16])


def test_only_a_terminal_shows_what_was_made(shown, tmp_path):
    (tmp_path / "x.log").touch()
    shown(start(2, "tabulate_paper"), finish(2))
    assert len(shown(record("Elapsed time: 0 s"))) == 1


def test_a_dry_run_leaves_no_folder_that_was_not_there(tmp_path):
    run = tmp_path / "runs/nano"
    for left in ([], ["locks/0.input.lock"], ["plans/a.sqlite"]):
        absent = [run / ".snakemake", run, run.parent]
        assert not any(folder.exists() for folder in absent)
        for name in ("iocache/latest.pkl", *left):
            path = run / ".snakemake" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        (run / ".snakemake/metadata").mkdir()
        command._clean_up(absent, absent[0])
        assert [folder.exists() for folder in absent] == [bool(left)] * 3
        shutil.rmtree(tmp_path / "runs", ignore_errors=True)
    run.mkdir(parents=True)
    (run / "results").mkdir()
    (run / ".snakemake").mkdir()
    command._clean_up([run / ".snakemake"], run / ".snakemake")
    assert [path.name for path in run.iterdir()] == ["results"]


def test_options_that_change_nothing_are_named():
    def said(*ways):
        settings = SimpleNamespace(deployment_method=frozenset(ways))
        return command.without_effect(SimpleNamespace(deployment_settings=settings))

    assert said() == []
    (warning,) = said("conda")
    assert "conda has no effect" in warning and "make setup" in warning
