"""What every rule of a stage says in the same way: its job in the plan, its files, its command."""

STAGE = (
    "reprlab.stages.{rule} --plan {PLAN.path} --job {params.key} --threads {threads}"
    " --device {RUNTIME.device} --save-every {RUNTIME.save_every}"
    " --inference-batch {RUNTIME.inference_batch} --log-level {RUNTIME.log_level}"
)
# By name, not by value: the engine runs everything again whose command's text has changed.
RUNTIME = LOADED.runtime
COMMAND = f"python -m {STAGE}"
LAUNCH = launch_command(
    LOADED.runtime.training_processes, LOADED.runtime.training_nodes
)
TRAINING_COMMAND = f"{LAUNCH.replace('{', '{{').replace('}', '}}')} {STAGE}"
if not workflow.modifier.is_main_snakefile():
    # Used as a module: the engine formats commands with the names of the workflow that uses it, and runs its `onstart`.
    workflow.modifier_stack[0].globals.update(PLAN=PLAN, RUNTIME=RUNTIME)
    workflow._onstart = lambda log: start_run()


def key_of(wildcards):
    return "/".join(wildcards) or paths.ONLY


def planned(stage, wildcards):
    try:
        return PLAN.job(stage, key_of(wildcards))
    except ReprlabError as error:
        sys.exit(f"error: {error}")


def inputs(stage):
    """The files and folders that the planned job reads, by name; a job may lack some of them."""

    def found(wildcards):
        job = planned(stage, wildcards)
        # What another job made than the planned one is made again, whatever the engine's own records say or lack.
        workflow.dag.forcefiles.update(OUTDATED.get((stage, job.key), []))
        return {name: value or [] for name, value in job.inputs.items()}

    return unpack(found)


def outputs(stage):
    """The files and folders that the stage makes, by name."""
    made = {
        name: directory(pattern.rstrip("/")) if pattern.endswith("/") else pattern
        for name, pattern in paths.OUTPUTS[stage].items()
    }
    if stage in paths.REPORTED:
        heading, name = paths.REPORTED[stage]
        made[name] = report(
            made[name],
            caption=f"../report/{stage}.rst",
            category="{paper}",
            subcategory=heading,
            labels={"result": Path(made[name]).stem},
        )
    return made


def record_of(kind, stage, ending):
    """Where the engine keeps the log or the benchmark of a stage's jobs."""
    name = (
        ".".join(f"{{{wildcard}}}" for wildcard in paths.wildcards(stage)) or paths.ONLY
    )
    return f"results/{kind}/{stage}/{name}{ending}"


def log_of(stage):
    return record_of("logs", stage, ".log")


def benchmark_of(stage):
    return record_of("benchmarks", stage, ".tsv")


def digest(stage):
    """Params function: the digest of all that can change the result: the trigger of a rerun."""

    def params(wildcards):
        return planned(stage, wildcards).digest

    return params


def by_attempt(amount):
    """Resources function: so much more at each attempt."""
    return lambda wildcards, attempt: amount * attempt


def module_of(paper):
    """A paper's slug as the name of its module."""
    return paper.replace("-", "_")
