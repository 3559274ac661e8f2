"""The command that the engine was given, as the Snakefile needs it: settings, targets, and what is left to the plan.

The engine tells the Snakefile its targets only when the jobs are put in order, after the plan; so they are looked up
where it has them meanwhile, among the variables of the functions that are at work.
"""

import atexit
import functools
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reprlab.runtime.errors import ReprlabError
from reprlab.settings.overrides import typed_settings

_RUN = re.compile(r"^(\./)?runs/[^/]+/")
_RECORD = ".snakemake"
# The engine keeps there which files it has looked for.
_SCANNED = Path("iocache/latest.pkl")


def decide_by_plan() -> None:
    """Let the engine run what is missing or named to it (`make_again`), whatever its own records and dates say.

    What is stale is found by `runtime.stale`. The engine compares dates whatever its settings say, and gives results
    the date of now when a job ends, so that they would be read again.
    """
    from snakemake.dag import DAG
    from snakemake.io import _IOFile

    if (settings := _variable("snakemake.api", "dag_settings")) is not None:
        settings.rerun_triggers = frozenset()
    _IOFile.is_newer = _never
    if not isinstance(DAG.__dict__["check_and_touch_output"], functools.partialmethod):
        undated = functools.partialmethod(DAG.check_and_touch_output, no_touch=True)
        DAG.check_and_touch_output = undated
    DAG.check_output_mtime = _never


async def _never(*_: Any) -> bool:
    return False


def given_settings(workflow: Any, config: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[Path]]:
    """The settings on top of `config/`, and the files of `--configfile`.

    They are as they were typed, for the engine reads YAML of its own kind and merges. `config` counts where another
    workflow uses this one as a module: it gives its settings there.

    Raises:
        ReprlabError: a value is not YAML.
    """
    if not workflow.modifier.is_main_snakefile():
        return config, ()
    return typed_settings(workflow.config_settings.config_args or []), workflow.overwrite_configfiles


def asked_targets(workflow: Any) -> tuple[str, ...]:
    """What the command asks for by name: targets, and what is to be made whether or not it is there. Empty: all.

    Where another workflow uses this one as a module and is asked for anything but results of ours, all: a target of its
    own may need any of them.
    """
    settings = _variable("snakemake.api", "dag_settings")
    if settings is None or settings.target_jobs or not settings.targets:
        return ()
    asked = (*settings.targets, *settings.forcerun)
    if workflow.modifier.is_main_snakefile():
        return asked
    ours = tuple(_RUN.sub("", target) for target in asked)
    return ours if all(target.startswith("results/") for target in ours) else ()


def prefix_of(workflow: Any, run_folder: Path) -> str:
    """What leads from the folder of a workflow that uses this one as a module to the run's: `runs/nano/`.

    Empty where they are the same, and where this is the workflow itself, which works in the run's folder.

    Raises:
        ReprlabError: the module has a prefix of its own, which stages know nothing of.
    """
    if workflow.modifier.is_main_snakefile():
        return ""
    modifier = workflow.modifier.path_modifier
    if modifier.prefix or modifier.modifies_prefixes:
        raise ReprlabError("module: prefix and replace_prefix would move what stages write; set run or --directory")
    below = os.path.relpath(run_folder)
    return "" if below == "." else f"{below}/"


def place_below(workflow: Any, prefix: str) -> None:
    """Put the prefix before the paths of all rules that this module declares from here on."""
    from snakemake.path_modifier import PathModifier

    modifier = workflow.modifier
    modifier.path_modifier = PathModifier(None, prefix, workflow, modifier.path_modifier)


def enter(prefix: str) -> str:
    """The beginning of a stage's command, which knows its files by their places in the run's folder."""
    return f"cd {shlex.quote(prefix)} && ".replace("{", "{{").replace("}", "}}") if prefix else ""


def make_again(prefix: str, made: Iterable[Iterable[str]]) -> None:
    """Let the engine make results of jobs that are there, whose paths it knows behind a prefix; each is one that the
    command needs, for it becomes a target."""
    if (settings := _variable("snakemake.api", "dag_settings")) is not None:
        settings.forcerun = frozenset({*settings.forcerun, *(prefix + path for paths in made for path in paths)})


def only_touches() -> bool:
    """Whether the command would only give results the date of now (`--touch`)."""
    arguments = _variable("snakemake.cli", "args")
    return bool(getattr(arguments, "touch", False))


def without_effect(workflow: Any) -> list[str]:
    """A warning for options of the engine that change nothing here, and what to do instead."""
    # Ways to provide software: a rule here names none, its jobs run where the engine does.
    if not (ways := sorted(str(one) for one in workflow.deployment_settings.deployment_method)):
        return []
    instead = "jobs run in the environment of this snakemake, which `make setup` makes from envs/*.txt"
    return [f"--software-deployment-method {' '.join(ways)} has no effect: {instead}"]


def clean_up_at_exit(workflow: Any, run_folder: Path) -> None:
    """Let a command that only plans leave no folder that was not there: the engine makes the run's and its own."""
    if not (workflow.is_main_process and workflow.output_settings.dryrun):
        return
    record = run_folder / _RECORD
    absent = [folder for folder in (record, run_folder, *run_folder.parents) if not folder.exists()]
    if absent:
        atexit.register(_clean_up, absent, record)


def _clean_up(absent: Sequence[Path], record: Path) -> None:
    # A run that began meanwhile has files here.
    if record in absent and record.is_dir():
        files = [path for path in record.rglob("*") if not path.is_dir()]
        if any(path.relative_to(record) != _SCANNED for path in files):
            return
        shutil.rmtree(record, ignore_errors=True)
    for folder in absent:
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return


def only_names() -> bool:
    """Whether the command only names files, as the engine does relative to the run's folder."""
    arguments = _variable("snakemake.cli", "args")
    options = ("summary", "detailed_summary", "delete_all_output", "delete_temp_output")
    return any(getattr(arguments, option, False) for option in options)


def accept_lint(finding: str) -> None:
    """Leave one kind of finding out of `snakemake --lint`, which has no comment that does; the caller says why.

    Args:
        finding: name of the linter's method behind `lint_`.
    """
    if getattr(_variable("snakemake.cli", "args"), "lint", False):
        from snakemake.linting.rules import RuleLinter

        setattr(RuleLinter, f"lint_{finding}", lambda *_: ())


def _variable(module: str, name: str) -> Any:
    """A variable of the innermost function of a module that is at work and has it; None where none does."""
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        if frame.f_globals.get("__name__") == module and name in frame.f_locals:
            return frame.f_locals[name]
    return None
