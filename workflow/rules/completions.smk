"""Decoders: prompts with completions, fine-tuning on them, scores."""


rule build_completions:
    input:
        inputs("build_completions"),
    output:
        **outputs("build_completions"),
    log:
        log_of("build_completions"),
    benchmark:
        benchmark_of("build_completions")
    threads: LOADED.threads("build_completions")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("build_completions"),
    message:
        "Write the prompts {wildcards.cell} of {wildcards.dataset}"
    shell:
        COMMAND


rule finetune_completions:
    input:
        inputs("finetune_completions"),
    output:
        **outputs("finetune_completions"),
    log:
        log_of("finetune_completions"),
    benchmark:
        benchmark_of("finetune_completions")
    threads: LOADED.threads("finetune_completions")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("finetune_completions"),
    message:
        "Fine-tune {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        TRAINING_COMMAND


rule score_completions:
    input:
        inputs("score_completions"),
    output:
        **outputs("score_completions"),
    log:
        log_of("score_completions"),
    benchmark:
        benchmark_of("score_completions")
    # Scores of a large model before fine-tuning need no training: left to the end they would run alone.
    priority: 10
    threads: LOADED.threads("score_completions")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("score_completions"),
    message:
        "Score {wildcards.model}, {wildcards.task} ({wildcards.cell})"
    shell:
        COMMAND
