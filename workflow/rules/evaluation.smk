"""Trivial and bag-of-words baselines."""


rule evaluate_baselines:
    input:
        # Papers that score one data set in different ways give each way a name of its own.
        examples=lambda wildcards: plan_job(
            "evaluate_baselines", wildcards
        ).inputs.get(
            "examples", f"results/shared/tasks/{wildcards.dataset}/examples.parquet"
        ),
    output:
        "results/shared/tasks/{dataset}/baselines.tsv",
    log:
        "results/logs/evaluate_baselines/{dataset}.log",
    benchmark:
        "results/benchmarks/evaluate_baselines/{dataset}.tsv"
    threads: LOADED.threads("evaluate_baselines")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=setting("evaluate_baselines", "settings"),
        code=code("evaluate_baselines"),
    message:
        "Score the baselines of {wildcards.dataset}"
    shell:
        "python -m reprlab.stages.evaluate_baselines --examples {input.examples} --settings {params.settings:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"
