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
