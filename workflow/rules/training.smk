"""Pre-training with a ladder of checkpoints, and fine-tuning of its checkpoints."""


rule pretrain_lm:
    input:
        tokens=given("pretrain_lm", "tokens"),
        tokenizer=given("pretrain_lm", "tokenizer"),
        init=given("pretrain_lm", "init"),
    output:
        ladder=directory("results/shared/pretrained/{model}/ladder"),
        metrics="results/shared/pretrained/{model}/metrics.tsv",
        throughput="results/shared/pretrained/{model}/throughput.tsv",
    log:
        "results/logs/pretrain_lm/{model}.log",
    benchmark:
        "results/benchmarks/pretrain_lm/{model}.tsv"
    threads: LOADED.threads("pretrain_lm")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("pretrain_lm", "settings"),
        work="results/work/pretrain_lm/{model}",
        code=code("pretrain_lm"),
    message:
        "Pre-train {wildcards.model}"
    shell:
        "{LAUNCH} reprlab.stages.pretrain_lm --tokens {input.tokens} --tokenizer {input.tokenizer}"
        " --init {input.init} --out {output.ladder} --metrics {output.metrics} --throughput {output.throughput}"
        " --work {params.work} --settings {params.settings:q} --fingerprint {params.code}"
        " --save-every {config[runtime][save_every]} --device {config[runtime][device]}"
        " --threads {threads} --log {log} --log-level {config[runtime][log_level]}"


rule evaluate_lm:
    input:
        ladders=given("evaluate_lm", "ladders"),
        tokens=given("evaluate_lm", "tokens"),
        tokenizer=given("evaluate_lm", "tokenizer"),
    output:
        "results/shared/evaluated/{evaluation}.tsv",
    log:
        "results/logs/evaluate_lm/{evaluation}.log",
    benchmark:
        "results/benchmarks/evaluate_lm/{evaluation}.tsv"
    threads: LOADED.threads("evaluate_lm")
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=1 if count_gpus() else 0,
    params:
        runs=setting("evaluate_lm", "runs"),
        code=code("evaluate_lm"),
    message:
        "Measure the validation losses of {wildcards.evaluation}"
    shell:
        "python -m reprlab.stages.evaluate_lm --runs {params.runs:q} --tokenizer {input.tokenizer} --out {output}"
        " --device {config[runtime][device]} --threads {threads}"
        " --log {log} --log-level {config[runtime][log_level]}"


rule finetune_model:
    input:
        sources=given("finetune_model", "sources"),
        tokenizer=given("finetune_model", "tokenizer"),
        examples=given("finetune_model", "examples"),
    output:
        metrics="results/shared/finetuned/{model}/{task}/{cell}/metrics.tsv",
        predictions="results/shared/finetuned/{model}/{task}/{cell}/predictions.parquet",
    log:
        "results/logs/finetune_model/{model}.{task}.{cell}.log",
    benchmark:
        "results/benchmarks/finetune_model/{model}.{task}.{cell}.tsv"
    threads: LOADED.threads("finetune_model")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 720 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("finetune_model", "settings"),
        models=lambda wildcards: repeated(
            "--models", plan_job("finetune_model", wildcards).settings["models"]
        ),
        names=lambda wildcards: repeated(
            "--names", plan_job("finetune_model", wildcards).settings["names"]
        ),
        work="results/work/finetune_model/{model}/{task}/{cell}",
        code=code("finetune_model"),
    message:
        "Fine-tune {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        "python -m reprlab.stages.finetune_model {params.models} {params.names} --tokenizer {input.tokenizer}"
        " --examples {input.examples} --out-metrics {output.metrics} --out-predictions {output.predictions}"
        " --work {params.work} --settings {params.settings:q} --fingerprint {params.code}"
        " --save-every {config[runtime][save_every]} --evaluation-batch {config[runtime][inference_batch]} --device {config[runtime][device]}"
        " --threads {threads} --log {log} --log-level {config[runtime][log_level]}"


rule select_learning_rate:
    input:
        metrics=given("select_learning_rate", "metrics"),
    output:
        selected="results/shared/finetuned/{model}/{task}/{cell}.selected.json",
        collected="results/shared/finetuned/{model}/{task}/{cell}.metrics.tsv",
    log:
        "results/logs/select_learning_rate/{model}.{task}.{cell}.log",
    benchmark:
        "results/benchmarks/select_learning_rate/{model}.{task}.{cell}.tsv"
    threads: LOADED.threads("select_learning_rate")
    resources:
        mem_mb=500,
        runtime=10,
    params:
        metrics=lambda wildcards, input: repeated("--metrics", input.metrics),
        split=setting("select_learning_rate", "split"),
        code=code("select_learning_rate"),
    message:
        "Select the learning rates of {wildcards.model} on {wildcards.task}"
    shell:
        "python -m reprlab.stages.select_learning_rate {params.metrics} --split {params.split} --out {output.selected}"
        " --collected {output.collected}"
        " --log {log} --log-level {config[runtime][log_level]}"
