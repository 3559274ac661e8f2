"""Rerankers: first stages, training, scoring, speed."""


def retrieval_priority(wildcards):
    """BM25 goes first."""
    return 30 if wildcards.model == "bm25" else 0


rule retrieve_passages:
    input:
        inputs("retrieve_passages"),
    output:
        **outputs("retrieve_passages"),
    log:
        log_of("retrieve_passages"),
    benchmark:
        benchmark_of("retrieve_passages")
    # Trainings wait for the words' runs, which take seconds; nothing waits for the vectors'.
    priority: retrieval_priority
    threads: LOADED.threads("retrieve_passages")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(240),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("retrieve_passages"),
    message:
        "Find passages of {wildcards.dataset} by {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND


rule build_span_queries:
    input:
        inputs("build_span_queries"),
    output:
        **outputs("build_span_queries"),
    log:
        log_of("build_span_queries"),
    benchmark:
        benchmark_of("build_span_queries")
    # Rerankers are trained on them first.
    priority: 30
    threads: LOADED.threads("build_span_queries")
    resources:
        mem_mb=by_attempt(2000),
        runtime=by_attempt(60),
    params:
        key=key_of,
        job=digest("build_span_queries"),
    message:
        "Draw spans of the passages of {wildcards.dataset} as queries ({wildcards.cell})"
    shell:
        COMMAND


def training_priority(wildcards):
    """Training on spans of passages comes first, because up to three trainings of the same model wait for it; then that
    on questions about passages, whose scores take longest."""
    return {"spans": 20, "passages": 12}.get(wildcards.cell.split("_")[0], 10)


rule train_reranker:
    input:
        inputs("train_reranker"),
    output:
        **outputs("train_reranker"),
    log:
        log_of("train_reranker"),
    benchmark:
        benchmark_of("train_reranker")
    # Scores wait for them: left to the end they would run alone.
    priority: training_priority
    threads: LOADED.threads("train_reranker")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("train_reranker"),
    message:
        "Train {wildcards.model} to rerank {wildcards.dataset} ({wildcards.cell})"
    shell:
        TRAINING_COMMAND


rule rerank_passages:
    input:
        inputs("rerank_passages"),
    output:
        **outputs("rerank_passages"),
    log:
        log_of("rerank_passages"),
    benchmark:
        benchmark_of("rerank_passages")
    # A pretrained reranker's scores take as long as a training: left to the end the last of them would run alone.
    priority: 15
    threads: LOADED.threads("rerank_passages")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("rerank_passages"),
    message:
        "Rerank with {wildcards.model} trained on {wildcards.dataset} ({wildcards.cell})"
    shell:
        COMMAND


rule measure_rerankers:
    input:
        inputs("measure_rerankers"),
    output:
        **outputs("measure_rerankers"),
    log:
        log_of("measure_rerankers"),
    benchmark:
        benchmark_of("measure_rerankers")
    threads: LOADED.threads("measure_rerankers")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(120),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("measure_rerankers"),
    message:
        "Measure the speed of {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND
