"""From documents to token ids."""


rule segment_documents:
    input:
        inputs("segment_documents"),
    output:
        **outputs("segment_documents"),
    log:
        log_of("segment_documents"),
    benchmark:
        benchmark_of("segment_documents")
    # Trainings wait for it, the longest chains of a run.
    priority: 30
    threads: LOADED.threads("segment_documents")
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        key=key_of,
        job=digest("segment_documents"),
    message:
        "Split {wildcards.corpus} into sentences and passages"
    shell:
        COMMAND


rule train_tokenizer:
    input:
        inputs("train_tokenizer"),
    output:
        **outputs("train_tokenizer"),
    log:
        log_of("train_tokenizer"),
    benchmark:
        benchmark_of("train_tokenizer")
    # Trainings wait for it, the longest chains of a run.
    priority: 30
    threads: LOADED.threads("train_tokenizer")
    resources:
        mem_mb=3000,
        runtime=120,
    params:
        key=key_of,
        job=digest("train_tokenizer"),
    message:
        "Make the tokenizer {wildcards.tokenizer}"
    shell:
        COMMAND


rule tokenize_corpus:
    input:
        inputs("tokenize_corpus"),
    output:
        **outputs("tokenize_corpus"),
    log:
        log_of("tokenize_corpus"),
    benchmark:
        benchmark_of("tokenize_corpus")
    threads: LOADED.threads("tokenize_corpus")
    resources:
        mem_mb=3000,
        runtime=240,
    params:
        key=key_of,
        job=digest("tokenize_corpus"),
    message:
        "Tokenize {wildcards.tokens}"
    shell:
        COMMAND


rule tokenize_blocks:
    input:
        inputs("tokenize_blocks"),
    output:
        **outputs("tokenize_blocks"),
    log:
        log_of("tokenize_blocks"),
    benchmark:
        benchmark_of("tokenize_blocks")
    threads: LOADED.threads("tokenize_blocks")
    resources:
        mem_mb=3000,
        runtime=600,
    params:
        key=key_of,
        job=digest("tokenize_blocks"),
    message:
        "Cut blocks of tokens for {wildcards.tokens}"
    shell:
        COMMAND


rule mark_concepts:
    input:
        inputs("mark_concepts"),
    output:
        **outputs("mark_concepts"),
    log:
        log_of("mark_concepts"),
    benchmark:
        benchmark_of("mark_concepts")
    threads: LOADED.threads("mark_concepts")
    resources:
        mem_mb=3000,
        runtime=600,
    params:
        key=key_of,
        job=digest("mark_concepts"),
    message:
        "Mark concepts in {wildcards.tokens}"
    shell:
        COMMAND
