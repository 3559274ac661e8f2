"""Trivial and bag-of-words baselines."""


rule evaluate_baselines:
    input:
        inputs("evaluate_baselines"),
    output:
        **outputs("evaluate_baselines"),
    log:
        log_of("evaluate_baselines"),
    benchmark:
        benchmark_of("evaluate_baselines")
    threads: LOADED.threads("evaluate_baselines")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("evaluate_baselines"),
    message:
        "Score the baselines of {wildcards.dataset}"
    shell:
        COMMAND


rule count_entities:
    input:
        inputs("count_entities"),
    output:
        **outputs("count_entities"),
    log:
        log_of("count_entities"),
    benchmark:
        benchmark_of("count_entities")
    threads: LOADED.threads("count_entities")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("count_entities"),
    message:
        "Count the entities of {wildcards.dataset}"
    shell:
        COMMAND
