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
