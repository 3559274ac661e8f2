"""Initial models: drawn at random, taken from a package, or fetched from the hub."""


rule build_model:
    input:
        tokenizer=given("build_model", "tokenizer"),
        receipts=given("build_model", "receipts"),
    output:
        directory("results/shared/models/{model}"),
    log:
        "results/logs/build_model/{model}.log",
    benchmark:
        "results/benchmarks/build_model/{model}.tsv"
    threads: LOADED.threads("build_model")
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        entry=setting("build_model", "entry"),
        seed=setting("build_model", "seed"),
        tokenizer=option("build_model", "--tokenizer", "tokenizer"),
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        code=code("build_model"),
    message:
        "Build the model {wildcards.model}"
    shell:
        "python -m reprlab.stages.build_model --entry {params.entry:q} {params.tokenizer} {params.receipts}"
        " --cache {CACHE:q} --seed {params.seed}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"
