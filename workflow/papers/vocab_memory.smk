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
