"""Hidden states: prompts, low-rank adapters, collection, intrinsic dimension."""


rule build_prompts:
    input:
        inputs("build_prompts"),
    output:
        **outputs("build_prompts"),
    log:
        log_of("build_prompts"),
    benchmark:
        benchmark_of("build_prompts")
    threads: LOADED.threads("build_prompts")
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        key=key_of,
        job=digest("build_prompts"),
    message:
        "Write the prompts {wildcards.cell} of {wildcards.dataset}"
    shell:
        COMMAND


rule train_adapter:
    input:
        inputs("train_adapter"),
    output:
        **outputs("train_adapter"),
    log:
        log_of("train_adapter"),
    benchmark:
        benchmark_of("train_adapter")
    threads: LOADED.threads("train_adapter")
    resources:
        mem_mb=by_attempt(8000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("train_adapter"),
    message:
        "Fine-tune adapters of {wildcards.model} on {wildcards.dataset}"
    shell:
        COMMAND


rule collect_states:
    input:
        inputs("collect_states"),
    output:
        **outputs("collect_states"),
    log:
        log_of("collect_states"),
    benchmark:
        benchmark_of("collect_states")
    threads: LOADED.threads("collect_states")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("collect_states"),
    message:
        "Collect states of {wildcards.model} for {wildcards.dataset} ({wildcards.cell})"
    shell:
        COMMAND


rule estimate_dimension:
    input:
        inputs("estimate_dimension"),
    output:
        **outputs("estimate_dimension"),
    log:
        log_of("estimate_dimension"),
    benchmark:
        benchmark_of("estimate_dimension")
    threads: LOADED.threads("estimate_dimension")
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=GPU,
    params:
        key=key_of,
        job=digest("estimate_dimension"),
    message:
        "Estimate dimensions of {wildcards.model} for {wildcards.dataset} ({wildcards.cell})"
    shell:
        COMMAND
