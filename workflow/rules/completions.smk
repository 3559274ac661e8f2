"""Decoders: prompts with completions, fine-tuning on them, scores."""


rule build_completions:
    input:
        examples=given("build_completions", "examples"),
    output:
        "results/shared/completions/{dataset}/{cell}.parquet",
    log:
        "results/logs/build_completions/{dataset}.{cell}.log",
    benchmark:
        "results/benchmarks/build_completions/{dataset}.{cell}.tsv"
    threads: LOADED.threads("build_completions")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=setting("build_completions", "settings"),
        code=code("build_completions"),
    message:
        "Write the prompts {wildcards.cell} of {wildcards.dataset}"
    shell:
        "python -m reprlab.stages.build_completions --settings {params.settings:q} --out {output}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule finetune_completions:
    input:
        sources=given("finetune_completions", "sources"),
        tokenizer=given("finetune_completions", "tokenizer"),
        prompts=given("finetune_completions", "prompts"),
    output:
        models=directory("results/shared/tuned/{model}/{task}/{cell}/models"),
        metrics="results/shared/tuned/{model}/{task}/{cell}/metrics.tsv",
    log:
        "results/logs/finetune_completions/{model}.{task}.{cell}.log",
    benchmark:
        "results/benchmarks/finetune_completions/{model}.{task}.{cell}.tsv"
    threads: LOADED.threads("finetune_completions")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("finetune_completions", "settings"),
        models=lambda wildcards: repeated(
            "--models", plan_job("finetune_completions", wildcards).settings["models"]
        ),
        names=lambda wildcards: repeated(
            "--names", plan_job("finetune_completions", wildcards).settings["names"]
        ),
        work="results/work/finetune_completions/{model}/{task}/{cell}",
        code=code("finetune_completions"),
    message:
        "Fine-tune {wildcards.model} on {wildcards.task} ({wildcards.cell})"
    shell:
        "{LAUNCH} reprlab.stages.finetune_completions {params.models} {params.names} --tokenizer {input.tokenizer}"
        " --prompts {input.prompts} --out {output.models} --metrics {output.metrics} --work {params.work}"
        " --settings {params.settings:q} --fingerprint {params.code} --save-every {config[runtime][save_every]}"
        " --device {config[runtime][device]} --threads {threads} --log {log} --log-level {config[runtime][log_level]}"


rule score_completions:
    input:
        sources=given("score_completions", "sources"),
        tokenizer=given("score_completions", "tokenizer"),
        prompts=given("score_completions", "prompts"),
        tuning=given("score_completions", "tuning"),
    output:
        scores="results/shared/scored/{model}/{task}/{cell}/scores.tsv",
        predictions="results/shared/scored/{model}/{task}/{cell}/predictions.parquet",
    log:
        "results/logs/score_completions/{model}.{task}.{cell}.log",
    benchmark:
        "results/benchmarks/score_completions/{model}.{task}.{cell}.tsv"
    # Scores of a large model before fine-tuning need no training: left to the end they would run alone.
    priority: 10
    threads: LOADED.threads("score_completions")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("score_completions", "settings"),
        models=lambda wildcards: repeated(
            "--models", plan_job("score_completions", wildcards).settings["models"]
        ),
        tuning=option("score_completions", "--tuning", "tuning"),
        code=code("score_completions"),
    message:
        "Score {wildcards.model}, {wildcards.task} ({wildcards.cell})"
    shell:
        "python -m reprlab.stages.score_completions {params.models} --tokenizer {input.tokenizer} {params.tuning}"
        " --out {output.scores} --predictions {output.predictions} --settings {params.settings:q}"
        " --inference-batch {config[runtime][inference_batch]} --device {config[runtime][device]}"
        " --threads {threads} --log {log} --log-level {config[runtime][log_level]}"
