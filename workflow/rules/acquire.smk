"""Downloads, and the corpora and tasks read from them."""


rule fetch_archive:
    output:
        "results/shared/archives/{archive}.json",
    log:
        "results/logs/fetch_archive/{archive}.log",
    benchmark:
        "results/benchmarks/fetch_archive/{archive}.tsv"
    retries: 2
    threads: LOADED.threads("fetch_archive")
    resources:
        mem_mb=1000,
        runtime=60,
    params:
        files=setting("fetch_archive", "files"),
        code=code("fetch_archive"),
    message:
        "Fetch {wildcards.archive}"
    shell:
        "python -m reprlab.stages.fetch_archive --archive {wildcards.archive} --registry {REGISTRY:q}"
        " --cache {CACHE:q} --receipt {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule build_documents:
    input:
        receipts=given("build_documents", "receipts"),
    output:
        "results/shared/corpora/{corpus}/documents.parquet",
    log:
        "results/logs/build_documents/{corpus}.log",
    benchmark:
        "results/benchmarks/build_documents/{corpus}.tsv"
    threads: LOADED.threads("build_documents")
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        entry=setting("build_documents", "entry"),
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        code=code("build_documents"),
    message:
        "Read the documents of {wildcards.corpus}"
    shell:
        "python -m reprlab.stages.build_documents --entry {params.entry:q} {params.receipts}"
        " --cache {CACHE:q} --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule build_examples:
    input:
        receipts=given("build_examples", "receipts"),
        documents=given("build_examples", "documents"),
    output:
        "results/shared/tasks/{dataset}/examples.parquet",
    log:
        "results/logs/build_examples/{dataset}.log",
    benchmark:
        "results/benchmarks/build_examples/{dataset}.tsv"
    threads: LOADED.threads("build_examples")
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        entry=setting("build_examples", "entry"),
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        documents=lambda wildcards, input: repeated("--documents", input.documents),
        code=code("build_examples"),
    message:
        "Read the examples of {wildcards.dataset}"
    shell:
        "python -m reprlab.stages.build_examples --entry {params.entry:q}"
        " {params.receipts} {params.documents} --cache {CACHE:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"
