"""What every rule of a stage says in the same way: its job in the plan, its files, its command."""


def key_of(wildcards):
    return "/".join(wildcards)


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
    return {
        name: directory(pattern.rstrip("/")) if pattern.endswith("/") else pattern
        for name, pattern in paths.OUTPUTS[stage].items()
    }


def record_of(kind, stage, ending):
    """Where the engine keeps the log or the benchmark of a stage's jobs."""
    name = ".".join(f"{{{wildcard}}}" for wildcard in paths.wildcards(stage)) or "all"
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
