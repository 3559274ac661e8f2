"""Config, plan, and the few functions that every rule uses."""

import os
import re
import sys

ROOT = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).parents[1]
if not (ROOT / "workflow/reprlab").is_dir():
    # Deployed from a repository: the engine fetched the rules alone; the rest is where the package was installed from.
    import reprlab

    ROOT = Path(reprlab.__file__).resolve().parents[2]
# A checkout works without being installed; jobs find the package and the interpreter that runs the engine.
sys.path.insert(0, str(ROOT / "workflow"))

from reprlab.cluster.array_tasks import command_of_task
from reprlab.cluster.frozen import checkout_digest, freeze, origin_of
from reprlab.cluster.launch import launch_command
from reprlab.cluster.submission import submit_from
from reprlab.config.load import load_config
from reprlab.config.resolved import write_settings
from reprlab.planning import paths
from reprlab.planning.reruns import wanted_jobs
from reprlab.planning.run_plan import plan_run
from reprlab.planning.stages import STAGES, wildcard_constraints
from reprlab.runs.track import write_track
from reprlab.runtime import folders, preloaded
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import require_writable
from reprlab.runtime.locks import enter_run, record_engine
from reprlab.runtime.machine import PLANNED_DTYPE, count_gpus, resolve_dtype
from reprlab.runtime.plan_file import PlanFile
from reprlab.runtime.process import announce_engine
from reprlab.runtime.result_checks import check_results
from reprlab.terminal import command
from reprlab.terminal.engine import show_run

folders.export_environment(ROOT / "workflow")
if task := command_of_task(sys.argv, os.environ):
    os.execv(task[0], task)
HOME = folders.home_of(ROOT, workflow.overwrite_workdir, workflow.main_snakefile)
# The run's folder lies below it.
workflow.overwrite_workdir = None
# A job of a cluster parses this in a frozen copy of the checkout, which holds the config of the run and names its plan.
if ORIGIN := origin_of(ROOT):
    os.environ[PLANNED_DTYPE] = ORIGIN.dtype
try:
    GIVEN = (ORIGIN.config,) if ORIGIN else command.given_settings(workflow, config)
    ASKED = command.asked_targets(workflow)
    LOADED = load_config(ROOT, *GIVEN, home=HOME, targets=ASKED)
    for folder in (ROOT, LOADED.run_folder):
        folders.require_importable(folder)
    PLAN = PlanFile(Path(ORIGIN.plan)) if ORIGIN else plan_run(LOADED)
except ReprlabError as error:
    # One line for the user instead of the engine's own traceback of the Snakefile.
    sys.exit(f"error: {error}")

announce_engine()
if command.only_names() and LOADED.run_folder != HOME:
    below = os.path.relpath(LOADED.run_folder)
    print(f"note: paths are below {below}", file=sys.stderr)
MAIN = workflow.is_main_process
RUN_FOLDER = ORIGIN.run_folder if ORIGIN else LOADED.run_folder
CHECKOUT = ORIGIN.root if ORIGIN else ROOT
# Used as a module: what stands before the paths of our rules in the folder of the workflow that uses them.
PREFIX = command.prefix_of(workflow, RUN_FOLDER)
PLANNED_CODE = checkout_digest(ROOT, LOADED.config_root) if MAIN else ""
config.clear()
config.update(LOADED.as_dict())
show_run(workflow, RUN_FOLDER, lambda: PLAN.asked, LOADED.again, (ROOT, LOADED.scale))
for warning in (*LOADED.warnings, *(command.without_effect(workflow) if MAIN else ())):
    print(f"warning: {warning}", file=sys.stderr)
command.clean_up_at_exit(workflow, RUN_FOLDER)
if MAIN and not workflow.output_settings.dryrun:
    try:
        require_writable(RUN_FOLDER / "results")
        require_writable(RUN_FOLDER / ".snakemake")
    except ReprlabError as error:
        sys.exit(f"error: {error}")
    for note in enter_run(RUN_FOLDER):
        print(f"note: {note}", file=sys.stderr)
command.decide_by_plan()
if MAIN:
    # Before the graph is built, so that what is not as it was made is made again by this command.
    dry = workflow.output_settings.dryrun or command.only_touches()
    CHECKED = check_results(wanted_jobs(PLAN, ASKED), RUN_FOLDER, dry=dry)
    for note in CHECKED.notes:
        print(f"warning: {note}", file=sys.stderr)
    command.make_again(PREFIX, CHECKED.stale.values())
    if command.only_touches():
        print(f"--touch: {CHECKED.untouched}", file=sys.stderr)
        sys.exit()


def leave_checkout():
    """Write the plan and let every job run from a frozen copy, so that no edit of the checkout reaches this run."""
    try:
        PLAN.write(RUN_FOLDER)
        write_settings(LOADED, RUN_FOLDER)
        copy = freeze(
            CHECKOUT,
            RUN_FOLDER,
            LOADED.as_dict(),
            resolve_dtype("auto", LOADED.runtime.device),
            PLANNED_CODE,
            RUN_FOLDER / PLAN.path,
            LOADED.config_root,
        )
    except (ReprlabError, OSError) as error:
        sys.exit(f"error: {error}")
    folders.export_environment(copy / "workflow")
    if workflow.non_local_exec:
        submit_from(copy, workflow)


# The commands of a workflow that uses this one as a module are its own affair.
PRELOADED = LOADED.preloads and workflow.modifier.is_main_snakefile()


def start_run():
    record_engine(RUN_FOLDER)
    leave_checkout()
    if PRELOADED and not workflow.non_local_exec:
        shell.prefix(preloaded.start(RUN_FOLDER).replace("{", "{{").replace("}", "}}"))


onstart:
    start_run()


onsuccess:
    write_track(RUN_FOLDER, LOADED.runtime.track)


onerror:
    write_track(RUN_FOLDER, LOADED.runtime.track)


# Stages find it in their environment: a path of the user's has no place on a command line.
os.environ[folders.CACHE_VARIABLE] = str(folders.download_cache(CHECKOUT))
GPU = 1 if count_gpus() else 0
# An undeclared resource is unlimited for the engine, and two trainings on one GPU are not what anybody wants. A profile
# or `--resources gpu=N` has the last word.
if count_gpus() and "gpu" not in workflow.global_resources:
    workflow.register_resource("gpu", count_gpus())


wildcard_constraints:
    **wildcard_constraints(LOADED.papers),
