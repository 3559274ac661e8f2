"""One rule for each stage that `reprlab.planning.declared` declares; which jobs it has says the plan."""

RUNTIME = LOADED.runtime
OPTIONS = (
    f"--device {RUNTIME.device} --save-every {RUNTIME.save_every}"
    f" --inference-batch {RUNTIME.inference_batch} --log-level {RUNTIME.log_level}"
    f" --accumulation {RUNTIME.accumulation}"
    f" --activation-checkpointing {RUNTIME.activation_checkpointing:d}"
)
LAUNCH = launch_command(RUNTIME.training_processes, RUNTIME.training_nodes)
# One locked environment serves all rules (envs/requirements.txt), so that a stage can be run by hand.
command.accept_lint("missing_software_definition")
if not workflow.modifier.is_main_snakefile():
    # Used as a module: the engine runs the `onstart` of the workflow that uses it.
    workflow._onstart = lambda log: start_run()


def key_of(wildcards):
    return "/".join(wildcards) or paths.ONLY


def planned(stage, wildcards):
    try:
        return PLAN.job(stage.name, key_of(wildcards))
    except ReprlabError as error:
        sys.exit(f"error: {error}")


def inputs(stage):
    """The files and folders that the planned job reads, by name; a job may lack some of them."""

    def found(wildcards):
        given = planned(stage, wildcards).inputs
        return {name: value or [] for name, value in given.items()}

    return unpack(found)


def outputs(stage):
    """The files and folders that the stage makes, by name."""
    made = {
        name: directory(pattern.rstrip("/")) if pattern[-1] == os.sep else pattern
        for name, pattern in stage.outputs.items()
    }
    if stage.heading:
        shown = next(iter(made))
        made[shown] = report(
            made[shown],
            caption=f"../report/{stage.name}.rst",
            category="{paper}",
            subcategory=stage.heading,
            labels={"result": Path(made[shown]).stem},
        )
    return made


def record(kind, stage, ending):
    """Where the engine keeps the log or the benchmark of a stage's jobs."""
    key = ".".join(f"{{{wildcard}}}" for wildcard in stage.wildcards) or paths.ONLY
    return f"results/{kind}/{stage.name}/{key}{ending}"


def resources_of(stage):
    """Memory and minutes, more of them at each attempt where the stage says so."""

    def amount(value, grows):
        return (lambda wildcards, attempt: value * attempt) if grows else value

    return {
        "mem_mb": amount(stage.mb, stage.grows in ("memory", "both")),
        "runtime": amount(stage.minutes, stage.grows == "both"),
        **({"gpu": GPU} if stage.gpu else {}),
    }


def command_of(stage):
    start = (
        LAUNCH.replace("{", "{{").replace("}", "}}") if stage.torchrun else "python -m"
    )
    given = (
        "--plan {params.plan} --job {params.key} --threads {threads} {params.options}"
    )
    return f"{command.enter(PREFIX)}{start} reprlab.stages.{stage.name} {given}"


def declare(stage):
    """The rule of a stage; within a function because the engine reads a rule's command when a job starts, and in a loop
    the name would be that of the last stage by then."""

    rule:
        name:
            stage.name
        input:
            inputs(stage),
        output:
            **outputs(stage),
        log:
            record("logs", stage, ".log"),
        benchmark:
            record("benchmarks", stage, ".tsv")
        priority: stage.priority
        retries: stage.retries
        localrule: stage.local
        threads: LOADED.threads(stage.name)
        resources:
            **resources_of(stage),
        params:
            key=key_of,
            # What changes no result is no reason to run again: the plan alone decides (`decide_by_plan`).
            plan=lambda wildcards: PLAN.path,
            options=lambda wildcards: OPTIONS,
        message:
            re.sub(r"{(\w+)}", r"{wildcards.\1}", stage.message)
        shell:
            command_of(stage)


for stage in STAGES.values():
    declare(stage)
