"""Config, plan, and the few functions that every rule uses."""

import json
import os
import shlex
import sys

ROOT = Path(workflow.basedir)
# A checkout works without being installed; jobs find the package and the interpreter that runs the engine.
sys.path.insert(0, str(ROOT / "workflow"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT / "workflow"), *filter(None, [os.environ.get("PYTHONPATH")])]
)
os.environ["PATH"] = os.pathsep.join(
    [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
)

from reprlab.cluster.array_tasks import command_of_task
from reprlab.cluster.frozen import checkout_digest, freeze, origin_of
from reprlab.cluster.launch import launch_command
from reprlab.config.load import load_config
from reprlab.config.overrides import typed_edits
from reprlab.papers.planning import make_plan
from reprlab.provenance.code_digest import code_digest
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.files import require_writable
from reprlab.runtime.folders import download_cache, require_importable
from reprlab.runtime.locks import enter_run, record_engine
from reprlab.runtime.machine import PLANNED_DTYPE, count_gpus, resolve_dtype
from reprlab.runtime.process import announce_engine
from reprlab.runtime.result_checks import check_results

if task := command_of_task(sys.argv, os.environ):
    os.execv(task[0], task)
if edits := typed_edits(workflow.config_settings.config_args or []):
    config["set"] = edits
# What the user gave on the command line, to be given again to the engine that draws the graph.
USER_CONFIG = " ".join(
    shlex.quote(f"{key}={json.dumps(value)}") for key, value in config.items()
)
# A job of a cluster parses this in a frozen copy of the checkout, which holds the config of the run.
if ORIGIN := origin_of(ROOT):
    os.environ[PLANNED_DTYPE] = ORIGIN.dtype
try:
    LOADED = (
        load_config(ROOT, ORIGIN.config)
        if ORIGIN
        else load_config(ROOT, config, workflow.overwrite_configfiles)
    )
    for folder in (ROOT, LOADED.run_folder):
        require_importable(folder)
    PLAN = make_plan(LOADED)
except ReprlabError as error:
    # One line for the user instead of the engine's own traceback of the Snakefile.
    sys.exit(f"error: {error}")

announce_engine()
RUN_FOLDER = ORIGIN.run_folder if ORIGIN else LOADED.run_folder
CHECKOUT = ORIGIN.root if ORIGIN else ROOT
PLANNED_CODE = checkout_digest(ROOT) if workflow.is_main_process else ""
config.clear()
config.update(LOADED.as_dict())
for warning in LOADED.warnings:
    print(f"warning: {warning}", file=sys.stderr)

if workflow.is_main_process and not workflow.output_settings.dryrun:
    try:
        require_writable(RUN_FOLDER / "results")
        require_writable(RUN_FOLDER / ".snakemake")
    except ReprlabError as error:
        sys.exit(f"error: {error}")
    for note in enter_run(RUN_FOLDER):
        print(f"note: {note}", file=sys.stderr)
if workflow.is_main_process:
    # Before the graph is built, so that what is not as it was made is made again by this command.
    for warning in check_results(RUN_FOLDER, dry=workflow.output_settings.dryrun):
        print(f"warning: {warning}", file=sys.stderr)


def leave_checkout():
    """Let every job, here and on the cluster, run from a frozen copy, so that edits of the checkout reach none of them."""
    global REGISTRY, SNAKEFILE
    try:
        dtype = resolve_dtype("auto", LOADED.runtime.device)
        copy = freeze(CHECKOUT, RUN_FOLDER, LOADED.as_dict(), dtype, PLANNED_CODE)
    except ReprlabError as error:
        sys.exit(f"error: {error}")
    REGISTRY, SNAKEFILE = copy / "config/datasets.yaml", copy / "Snakefile"
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(copy / "workflow"), os.environ["PYTHONPATH"]]
    )
    # The executor exists by now. It gives its jobs this Snakefile, and the user's config, which the copy holds already.
    executor = workflow.scheduler._executor
    executor.snakefile = str(SNAKEFILE)
    workflow.config_settings.configfiles = []
    workflow.config_settings.config_args = None
    # Arrays of the jobs that are ready together: the executor (2.8.0) waits for others of the rule, also for those that the
    # limit of jobs holds back, and forgets the ones that wait.
    plugin = sys.modules[type(executor).__module__]
    if hasattr(plugin, "pending_jobs_for_rule"):
        plugin.pending_jobs_for_rule = lambda dag, rule: 0


onstart:
    record_engine(RUN_FOLDER)
    if workflow.non_local_exec:
        leave_checkout()


CACHE = download_cache(CHECKOUT)
SNAKEFILE = workflow.main_snakefile
REGISTRY = ROOT / "config/datasets.yaml"
LAUNCH = launch_command(
    LOADED.runtime.training_processes, LOADED.runtime.training_nodes
)
PUBLISHED = ROOT / "resources/published"
# An undeclared resource is unlimited for the engine, and two trainings on one GPU are not what anybody wants. A profile
# or `--resources gpu=N` has the last word.
if count_gpus() and "gpu" not in workflow.global_resources:
    workflow.register_resource("gpu", count_gpus())


wildcard_constraints:
    archive="[a-z0-9_]+",
    corpus="[a-z0-9_]+",
    segmentation="[a-z0-9_]+",
    tokenizer="[a-z0-9_]+",
    tokens="[a-z0-9_]+",
    model="[a-z0-9_]+",
    evaluation="[a-z0-9_]+",
    dataset="[a-z0-9_]+",
    task="[a-z0-9_]+",
    cell="[A-Za-z0-9_.-]+",
    paper="|".join(slug.replace("-", "[-]") for slug in LOADED.papers),
    table="(?!(?:comparison|audit|claims|cost|preview_[a-z0-9]+)\\b)[a-z0-9_]+",
    figure="[a-z0-9_]+",


def key_of(wildcards):
    return "/".join(wildcards)


def given(stage, name):
    """Input function: the named input of the job that the plan has for these wildcards."""

    def inputs(wildcards):
        # Some jobs go without this input; for the engine that is an empty list, not an empty name.
        return plan_job(stage, wildcards).inputs[name] or []

    return inputs


def setting(stage, name):
    """Params function: the named setting of the planned job, and nothing else of the config."""

    def params(wildcards):
        return plan_job(stage, wildcards).settings[name]

    return params


def option(stage, flag, name):
    """Params function for an input that a job may lack: `--flag path`, or nothing."""

    def params(wildcards):
        path = plan_job(stage, wildcards).inputs[name]
        return f"{flag} {path}" if path else ""

    return params


def code(stage):
    """Params function: digest of the code that the stage and the job's plugins run."""

    def params(wildcards):
        return code_digest(stage, *plan_job(stage, wildcards).plugins)

    return params


def plan_job(stage, wildcards):
    try:
        return PLAN.job(stage, key_of(wildcards))
    except ReprlabError as error:
        sys.exit(f"error: {error}")


def repeated(flag, values):
    """A list option on the command line."""
    return " ".join(f"{flag} {value}" for value in values)


def module_of(paper):
    """A paper's slug as the name of its module."""
    return paper.replace("-", "_")


def published_tables(paper, pattern="*.tsv"):
    """The paper's printed values, which are part of the repository: relative, so that a moved checkout reruns nothing."""
    return sorted(
        os.path.relpath(path, RUN_FOLDER) for path in (PUBLISHED / paper).glob(pattern)
    )
