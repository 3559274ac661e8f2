"""Initial models: drawn at random, taken from a package, or fetched from the hub."""


rule build_model:
    input:
        inputs("build_model"),
    output:
        **outputs("build_model"),
    log:
        log_of("build_model"),
    benchmark:
        benchmark_of("build_model")
    # Trainings wait for it, the longest chains of a run.
    priority: 30
    threads: LOADED.threads("build_model")
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        key=key_of,
        job=digest("build_model"),
    message:
        "Build the model {wildcards.model}"
    shell:
        COMMAND
