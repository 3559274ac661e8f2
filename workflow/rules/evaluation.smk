"""Trivial and bag-of-words baselines."""


rule evaluate_baselines:
    message:
        "Score the baselines of {wildcards.task}"
    input:
        examples="results/shared/tasks/{task}/examples.parquet",
    output:
        "results/shared/tasks/{task}/baselines.tsv",
    log:
        "results/logs/evaluate_baselines/{task}.log",
    benchmark:
        "results/benchmarks/evaluate_baselines/{task}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=setting("evaluate_baselines", "settings"),
        code=code("evaluate_baselines"),
    shell:
        "python -m reprlab.stages.evaluate_baselines --examples {input.examples} --settings {params.settings:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]}"
