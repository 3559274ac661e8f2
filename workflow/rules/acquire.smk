"""Downloads, and the corpora and tasks read from them."""


rule fetch_archive:
    input:
        inputs("fetch_archive"),
    output:
        **outputs("fetch_archive"),
    log:
        log_of("fetch_archive"),
    benchmark:
        benchmark_of("fetch_archive")
    # Trainings wait for it, the longest chains of a run.
    priority: 30
    retries: 2
    threads: LOADED.threads("fetch_archive")
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        key=key_of,
        job=digest("fetch_archive"),
    message:
        "Fetch {wildcards.archive}"
    shell:
        COMMAND


rule build_documents:
    input:
        inputs("build_documents"),
    output:
        **outputs("build_documents"),
    log:
        log_of("build_documents"),
    benchmark:
        benchmark_of("build_documents")
    # Trainings wait for it, the longest chains of a run.
    priority: 30
    threads: LOADED.threads("build_documents")
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        key=key_of,
        job=digest("build_documents"),
    message:
        "Read the documents of {wildcards.corpus}"
    shell:
        COMMAND


rule build_examples:
    input:
        inputs("build_examples"),
    output:
        **outputs("build_examples"),
    log:
        log_of("build_examples"),
    benchmark:
        benchmark_of("build_examples")
    # Trainings wait for it, the longest chains of a run.
    priority: 30
    threads: LOADED.threads("build_examples")
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        key=key_of,
        job=digest("build_examples"),
    message:
        "Read the examples of {wildcards.dataset}"
    shell:
        COMMAND
