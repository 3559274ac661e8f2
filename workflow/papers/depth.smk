"""DEPTH (Bamberger et al.): what no other paper has."""


rule depth:
    input:
        PLAN.targets["depth"],
    message:
        "All of DEPTH"


rule preview_corruption:
    input:
        tokens=given("preview_corruption", "tokens"),
        tokenizer=given("preview_corruption", "tokenizer"),
    output:
        "results/depth/preview_{objective}.tsv",
    log:
        "results/logs/preview_corruption/{objective}.log",
    benchmark:
        "results/benchmarks/preview_corruption/{objective}.tsv"
    threads: LOADED.threads("preview_corruption")
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        settings=setting("preview_corruption", "settings"),
        code=code("preview_corruption"),
    message:
        "Show corrupted examples of {wildcards.objective}"
    shell:
        "python -m reprlab.stages.preview_corruption --tokens {input.tokens} --tokenizer {input.tokenizer}"
        " --settings {params.settings:q} --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"
