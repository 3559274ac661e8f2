"""Vocabularies: the tokenizer of a model, token counts, sizes of models."""


rule extract_tokenizer:
    input:
        inputs("extract_tokenizer"),
    output:
        **outputs("extract_tokenizer"),
    log:
        log_of("extract_tokenizer"),
    benchmark:
        benchmark_of("extract_tokenizer")
    threads: LOADED.threads("extract_tokenizer")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("extract_tokenizer"),
    message:
        "Take the tokenizer of {wildcards.model}"
    shell:
        COMMAND


rule count_tokens:
    input:
        inputs("count_tokens"),
    output:
        **outputs("count_tokens"),
    log:
        log_of("count_tokens"),
    benchmark:
        benchmark_of("count_tokens")
    threads: LOADED.threads("count_tokens")
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        key=key_of,
        job=digest("count_tokens"),
    message:
        "Count the tokens of {wildcards.model} in {wildcards.dataset}"
    shell:
        COMMAND


rule count_parameters:
    input:
        inputs("count_parameters"),
    output:
        **outputs("count_parameters"),
    log:
        log_of("count_parameters"),
    benchmark:
        benchmark_of("count_parameters")
    threads: LOADED.threads("count_parameters")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("count_parameters"),
    message:
        "Count the parameters of the models of {wildcards.model}"
    shell:
        COMMAND
