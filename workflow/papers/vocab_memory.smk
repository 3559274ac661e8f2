"""PEMA (Williams and Aletras): what no other paper has."""


rule vocab_memory:
    input:
        PLAN.targets["vocab-memory"],
    message:
        "All of vocab-memory"


rule measure_finetuning:
    input:
        model=given("measure_finetuning", "model"),
        tokenizer=given("measure_finetuning", "tokenizer"),
        examples=given("measure_finetuning", "examples"),
    output:
        "results/shared/measured/{model}/{task}/{cell}.tsv",
    log:
        "results/logs/measure_finetuning/{model}.{task}.{cell}.log",
    benchmark:
        "results/benchmarks/measure_finetuning/{model}.{task}.{cell}.tsv"
    threads: LOADED.threads("measure_finetuning")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 720 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("measure_finetuning", "settings"),
        code=code("measure_finetuning"),
    message:
        "Measure fine-tuning of {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        "python -m reprlab.stages.measure_finetuning --model {input.model} --tokenizer {input.tokenizer}"
        " --examples {input.examples} --settings {params.settings:q} --out {output}"
        " --device {config[runtime][device]} --threads {threads} --log {log} --log-level {config[runtime][log_level]}"
