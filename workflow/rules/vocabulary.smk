"""Vocabularies: the tokenizer of a model, token counts, sizes of models."""


rule extract_tokenizer:
    input:
        receipts=given("extract_tokenizer", "receipts"),
    output:
        directory("results/shared/model_tokenizers/{model}"),
    log:
        "results/logs/extract_tokenizer/{model}.log",
    benchmark:
        "results/benchmarks/extract_tokenizer/{model}.tsv"
    threads: LOADED.threads("extract_tokenizer")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        entry=setting("extract_tokenizer", "entry"),
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        code=code("extract_tokenizer"),
    message:
        "Take the tokenizer of {wildcards.model}"
    shell:
        "python -m reprlab.stages.extract_tokenizer --entry {params.entry:q} {params.receipts} --cache {CACHE:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule count_tokens:
    input:
        source=given("count_tokens", "source"),
        tokenizer=given("count_tokens", "tokenizer"),
    output:
        counts="results/shared/token_counts/{model}/{dataset}.safetensors",
        summary="results/shared/token_counts/{model}/{dataset}.tsv",
    log:
        "results/logs/count_tokens/{model}.{dataset}.log",
    benchmark:
        "results/benchmarks/count_tokens/{model}.{dataset}.tsv"
    threads: LOADED.threads("count_tokens")
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        settings=setting("count_tokens", "settings"),
        code=code("count_tokens"),
    message:
        "Count the tokens of {wildcards.model} in {wildcards.dataset}"
    shell:
        "python -m reprlab.stages.count_tokens --source {input.source} --tokenizer {input.tokenizer}"
        " --settings {params.settings:q} --out {output.counts} --summary {output.summary}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule count_parameters:
    output:
        "results/shared/model_sizes/{model}.tsv",
    log:
        "results/logs/count_parameters/{model}.log",
    benchmark:
        "results/benchmarks/count_parameters/{model}.tsv"
    threads: LOADED.threads("count_parameters")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        models=setting("count_parameters", "models"),
        code=code("count_parameters"),
    message:
        "Count the parameters of the models of {wildcards.model}"
    shell:
        "python -m reprlab.stages.count_parameters --models {params.models:q} --out {output}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"
