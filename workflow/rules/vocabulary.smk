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


rule unite_counts:
    input:
        inputs("unite_counts"),
    output:
        **outputs("unite_counts"),
    log:
        log_of("unite_counts"),
    benchmark:
        benchmark_of("unite_counts")
    threads: LOADED.threads("unite_counts")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("unite_counts"),
    message:
        "Put the token counts of {wildcards.dataset} together"
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
