"""PEMA (Williams and Aletras): what no other paper has."""


rule measure_finetuning:
    input:
        inputs("measure_finetuning"),
    output:
        **outputs("measure_finetuning"),
    log:
        log_of("measure_finetuning"),
    benchmark:
        benchmark_of("measure_finetuning")
    threads: LOADED.threads("measure_finetuning")
    resources:
        mem_mb=by_attempt(4000),
        runtime=by_attempt(720),
        gpu=GPU,
    params:
        key=key_of,
        job=digest("measure_finetuning"),
    message:
        "Measure fine-tuning of {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        COMMAND


rule pema_adapt:
    input:
        inputs("pema_adapt"),
    output:
        **outputs("pema_adapt"),
    log:
        log_of("pema_adapt"),
    benchmark:
        benchmark_of("pema_adapt")
    threads: LOADED.threads("pema_adapt")
    resources:
        mem_mb=by_attempt(4000),
        runtime=60,
    params:
        key=key_of,
        job=digest("pema_adapt"),
    message:
        "Cut {wildcards.model} to the tokens of {wildcards.task}"
    shell:
        COMMAND


rule pema_restore:
    input:
        inputs("pema_restore"),
    output:
        **outputs("pema_restore"),
    log:
        log_of("pema_restore"),
    benchmark:
        benchmark_of("pema_restore")
    threads: LOADED.threads("pema_restore")
    resources:
        mem_mb=by_attempt(4000),
        runtime=60,
    params:
        key=key_of,
        job=digest("pema_restore"),
    message:
        "Make {wildcards.model} whole after {wildcards.task} ({wildcards.cell})"
    shell:
        COMMAND
