"""Pre-training with a ladder of checkpoints, and fine-tuning of its checkpoints."""


rule pretrain_lm:
    input:
        inputs("pretrain_lm"),
    output:
        **outputs("pretrain_lm"),
    log:
        log_of("pretrain_lm"),
    benchmark:
        benchmark_of("pretrain_lm")
    # Every fine-tuning waits for one: the last of them would run alone, and then what waits for it.
    priority: 10
    threads: LOADED.threads("pretrain_lm")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(1440),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("pretrain_lm"),
    message:
        "Pre-train {wildcards.model}"
    shell:
        TRAINING_COMMAND


rule evaluate_lm:
    input:
        inputs("evaluate_lm"),
    output:
        **outputs("evaluate_lm"),
    log:
        log_of("evaluate_lm"),
    benchmark:
        benchmark_of("evaluate_lm")
    threads: LOADED.threads("evaluate_lm")
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=GPU,
    params:
        key=key_of,
        job=digest("evaluate_lm"),
    message:
        "Measure the validation losses of {wildcards.evaluation}"
    shell:
        COMMAND


rule finetune_model:
    input:
        inputs("finetune_model"),
    output:
        **outputs("finetune_model"),
    log:
        log_of("finetune_model"),
    benchmark:
        benchmark_of("finetune_model")
    threads: LOADED.threads("finetune_model")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("finetune_model"),
    message:
        "Fine-tune {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        COMMAND


rule select_learning_rate:
    input:
        inputs("select_learning_rate"),
    output:
        **outputs("select_learning_rate"),
    log:
        log_of("select_learning_rate"),
    benchmark:
        benchmark_of("select_learning_rate")
    threads: LOADED.threads("select_learning_rate")
    resources:
        mem_mb=500,
        runtime=10,
    params:
        key=key_of,
        job=digest("select_learning_rate"),
    message:
        "Select the learning rates of {wildcards.model} on {wildcards.task}"
    shell:
        COMMAND
