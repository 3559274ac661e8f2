"""Sentence encoders: losses by layer, contrastive training, scores."""


rule measure_layers:
    input:
        inputs("measure_layers"),
    output:
        **outputs("measure_layers"),
    log:
        log_of("measure_layers"),
    benchmark:
        benchmark_of("measure_layers")
    # A training waits for it, and scores for that: left to the end they would run alone.
    priority: 10
    threads: LOADED.threads("measure_layers")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(120),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("measure_layers"),
    message:
        "Measure the losses of the layers of {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND


rule count_encoders:
    input:
        inputs("count_encoders"),
    output:
        **outputs("count_encoders"),
    log:
        log_of("count_encoders"),
    benchmark:
        benchmark_of("count_encoders")
    threads: LOADED.threads("count_encoders")
    resources:
        mem_mb=2000,
        runtime=20,
    params:
        key=key_of,
        job=digest("count_encoders"),
    message:
        "Count the parameters of the encoders of {wildcards.cell}"
    shell:
        COMMAND


rule post_train:
    input:
        inputs("post_train"),
    output:
        **outputs("post_train"),
    log:
        log_of("post_train"),
    benchmark:
        benchmark_of("post_train")
    # As above.
    priority: 10
    threads: LOADED.threads("post_train")
    resources:
        mem_mb=by_attempt(6000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("post_train"),
    message:
        "Post-train {wildcards.model} ({wildcards.cell})"
    shell:
        TRAINING_COMMAND


# In one process: several would share the negatives of a batch.
rule train_encoder:
    input:
        inputs("train_encoder"),
    output:
        **outputs("train_encoder"),
    log:
        log_of("train_encoder"),
    benchmark:
        benchmark_of("train_encoder")
    # Scores are short and fill what trainings leave.
    priority: 5
    threads: LOADED.threads("train_encoder")
    resources:
        mem_mb=by_attempt(6000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("train_encoder"),
    message:
        "Train {wildcards.model} as a sentence encoder ({wildcards.cell})"
    shell:
        COMMAND


rule evaluate_encoder:
    input:
        inputs("evaluate_encoder"),
    output:
        **outputs("evaluate_encoder"),
    log:
        log_of("evaluate_encoder"),
    benchmark:
        benchmark_of("evaluate_encoder")
    threads: LOADED.threads("evaluate_encoder")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(240),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("evaluate_encoder"),
    message:
        "Score the sentence encoder {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND


# Made only where it is asked for: `make export ENCODER=<model>/<cell>`.
rule export_encoder:
    input:
        inputs("export_encoder"),
    output:
        **outputs("export_encoder"),
    log:
        log_of("export_encoder"),
    benchmark:
        benchmark_of("export_encoder")
    threads: LOADED.threads("export_encoder")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(30),
    params:
        key=key_of,
        job=digest("export_encoder"),
    message:
        "Export the sentence encoder {wildcards.model} ({wildcards.cell})"
    shell:
        COMMAND
