"""A curriculum of concepts, from a graph and counts; each threshold has a stage of its own."""


rule build_graph:
    input:
        inputs("build_graph"),
    output:
        **outputs("build_graph"),
    log:
        log_of("build_graph"),
    benchmark:
        benchmark_of("build_graph")
    threads: LOADED.threads("build_graph")
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        key=key_of,
        job=digest("build_graph"),
    message:
        "Build the graph of {wildcards.corpus}"
    shell:
        COMMAND


rule count_concepts:
    input:
        inputs("count_concepts"),
    output:
        **outputs("count_concepts"),
    log:
        log_of("count_concepts"),
    benchmark:
        benchmark_of("count_concepts")
    threads: LOADED.threads("count_concepts")
    resources:
        mem_mb=4000,
        runtime=600,
    params:
        key=key_of,
        job=digest("count_concepts"),
    message:
        "Count the concepts of {wildcards.corpus} ({wildcards.cell})"
    shell:
        COMMAND


rule select_concepts:
    input:
        inputs("select_concepts"),
    output:
        **outputs("select_concepts"),
    log:
        log_of("select_concepts"),
    benchmark:
        benchmark_of("select_concepts")
    threads: LOADED.threads("select_concepts")
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        key=key_of,
        job=digest("select_concepts"),
    message:
        "Select basic concepts for {wildcards.cell}"
    shell:
        COMMAND


rule expand_concepts:
    input:
        inputs("expand_concepts"),
    output:
        **outputs("expand_concepts"),
    log:
        log_of("expand_concepts"),
    benchmark:
        benchmark_of("expand_concepts")
    threads: LOADED.threads("expand_concepts")
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        key=key_of,
        job=digest("expand_concepts"),
    message:
        "Take the concepts near the basic ones for {wildcards.cell}"
    shell:
        COMMAND


rule filter_concepts:
    input:
        inputs("filter_concepts"),
    output:
        **outputs("filter_concepts"),
    log:
        log_of("filter_concepts"),
    benchmark:
        benchmark_of("filter_concepts")
    threads: LOADED.threads("filter_concepts")
    resources:
        mem_mb=3000,
        runtime=60,
    params:
        key=key_of,
        job=digest("filter_concepts"),
    message:
        "Filter the concepts for {wildcards.cell}"
    shell:
        COMMAND


rule sweep_concepts:
    input:
        inputs("sweep_concepts"),
    output:
        **outputs("sweep_concepts"),
    log:
        log_of("sweep_concepts"),
    benchmark:
        benchmark_of("sweep_concepts")
    threads: LOADED.threads("sweep_concepts")
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        key=key_of,
        job=digest("sweep_concepts"),
    message:
        "Measure what each threshold does for {wildcards.cell}"
    shell:
        COMMAND
