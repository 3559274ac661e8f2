"""Pairs of texts: made, trained on, answered and scored, each by a stage of its own."""


rule build_seq2seq:
    input:
        inputs("build_seq2seq"),
    output:
        **outputs("build_seq2seq"),
    log:
        log_of("build_seq2seq"),
    benchmark:
        benchmark_of("build_seq2seq")
    threads: LOADED.threads("build_seq2seq")
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        key=key_of,
        job=digest("build_seq2seq"),
    message:
        "Pair sources and targets of {wildcards.dataset} ({wildcards.cell})"
    shell:
        COMMAND


rule train_seq2seq:
    input:
        inputs("train_seq2seq"),
    output:
        **outputs("train_seq2seq"),
    log:
        log_of("train_seq2seq"),
    benchmark:
        benchmark_of("train_seq2seq")
    threads: LOADED.threads("train_seq2seq")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("train_seq2seq"),
    message:
        "Train {wildcards.model} on pairs of {wildcards.task} ({wildcards.cell})"
    shell:
        TRAINING_COMMAND


rule generate_seq2seq:
    input:
        inputs("generate_seq2seq"),
    output:
        **outputs("generate_seq2seq"),
    log:
        log_of("generate_seq2seq"),
    benchmark:
        benchmark_of("generate_seq2seq")
    threads: LOADED.threads("generate_seq2seq")
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=GPU,
    params:
        key=key_of,
        job=digest("generate_seq2seq"),
    message:
        "Answer pairs of {wildcards.task} with {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND


rule ask_seq2seq:
    input:
        inputs("ask_seq2seq"),
    output:
        **outputs("ask_seq2seq"),
    log:
        log_of("ask_seq2seq"),
    benchmark:
        benchmark_of("ask_seq2seq")
    threads: LOADED.threads("ask_seq2seq")
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        key=key_of,
        job=digest("ask_seq2seq"),
    message:
        "Ask a chat model about {wildcards.task} ({wildcards.cell})"
    shell:
        COMMAND


rule score_seq2seq:
    input:
        inputs("score_seq2seq"),
    output:
        **outputs("score_seq2seq"),
    log:
        log_of("score_seq2seq"),
    benchmark:
        benchmark_of("score_seq2seq")
    threads: LOADED.threads("score_seq2seq")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("score_seq2seq"),
    message:
        "Score the answers of {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        COMMAND
