"""Downloads, and the corpora and tasks read from them."""


rule fetch_archive:
    message:
        "Fetch {wildcards.archive}"
    output:
        "results/shared/archives/{archive}.json",
    log:
        "results/logs/fetch_archive/{archive}.log",
    benchmark:
        "results/benchmarks/fetch_archive/{archive}.tsv"
    retries: 2
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        entry=setting("fetch_archive", "entry"),
        cache=CACHE,
        registry=REGISTRY,
        code=code("fetch_archive"),
    shell:
        "python -m reprlab.stages.fetch_archive --archive {wildcards.archive} --registry {params.registry:q}"
        " --cache {params.cache:q} --receipt {output} --log {log} --log-level {config[runtime][log_level]}"


rule build_documents:
    message:
        "Read the documents of {wildcards.corpus}"
    input:
        receipts=given("build_documents", "receipts"),
    output:
        "results/shared/corpora/{corpus}/documents.parquet",
    log:
        "results/logs/build_documents/{corpus}.log",
    benchmark:
        "results/benchmarks/build_documents/{corpus}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        entry=setting("build_documents", "entry"),
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        cache=CACHE,
        code=code("build_documents"),
    shell:
        "python -m reprlab.stages.build_documents --entry {params.entry:q} {params.receipts}"
        " --cache {params.cache:q} --out {output} --log {log} --log-level {config[runtime][log_level]}"


rule build_examples:
    message:
        "Read the examples of {wildcards.task}"
    input:
        receipts=given("build_examples", "receipts"),
        documents=given("build_examples", "documents"),
    output:
        "results/shared/tasks/{task}/examples.parquet",
    log:
        "results/logs/build_examples/{task}.log",
    benchmark:
        "results/benchmarks/build_examples/{task}.tsv"
    threads: 1
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        entry=setting("build_examples", "entry"),
        limits=setting("build_examples", "limits"),
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        documents=lambda wildcards, input: repeated("--documents", input.documents),
        cache=CACHE,
        code=code("build_examples"),
    shell:
        "python -m reprlab.stages.build_examples --entry {params.entry:q} --limits {params.limits:q}"
        " {params.receipts} {params.documents} --cache {params.cache:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]}"
