"""Hidden states: prompts, low-rank adapters, collection, intrinsic dimension."""


rule build_prompts:
    input:
        examples=given("build_prompts", "examples"),
    output:
        "results/shared/prompts/{dataset}/{cell}.parquet",
    log:
        "results/logs/build_prompts/{dataset}.{cell}.log",
    benchmark:
        "results/benchmarks/build_prompts/{dataset}.{cell}.tsv"
    threads: LOADED.threads("build_prompts")
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        settings=setting("build_prompts", "settings"),
        code=code("build_prompts"),
    message:
        "Write the prompts {wildcards.cell} of {wildcards.dataset}"
    shell:
        "python -m reprlab.stages.build_prompts --examples {input.examples} --settings {params.settings:q}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]}"


rule train_adapter:
    input:
        model=given("train_adapter", "model"),
        tokenizer=given("train_adapter", "tokenizer"),
        prompts=given("train_adapter", "prompts"),
    output:
        ladder=directory("results/shared/adapters/{model}/{dataset}/{cell}/ladder"),
        metrics="results/shared/adapters/{model}/{dataset}/{cell}/metrics.tsv",
    log:
        "results/logs/train_adapter/{model}.{dataset}.{cell}.log",
    benchmark:
        "results/benchmarks/train_adapter/{model}.{dataset}.{cell}.tsv"
    threads: LOADED.threads("train_adapter")
    resources:
        mem_mb=lambda wildcards, attempt: 8000 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("train_adapter", "settings"),
        work="results/work/train_adapter/{model}/{dataset}/{cell}",
        code=code("train_adapter"),
    message:
        "Fine-tune adapters of {wildcards.model} on {wildcards.dataset}"
    shell:
        "python -m reprlab.stages.train_adapter --model {input.model} --tokenizer {input.tokenizer}"
        " --prompts {input.prompts} --out {output.ladder} --metrics {output.metrics} --work {params.work}"
        " --settings {params.settings:q} --fingerprint {params.code} --save-every {config[runtime][save_every]}"
        " --device {config[runtime][device]} --threads {threads} --log {log} --log-level {config[runtime][log_level]}"


rule collect_states:
    input:
        model=given("collect_states", "model"),
        tokenizer=given("collect_states", "tokenizer"),
        prompts=given("collect_states", "prompts"),
        adapters=given("collect_states", "adapters"),
    output:
        states=directory("results/shared/states/{model}/{dataset}/{cell}/layers"),
        answers="results/shared/states/{model}/{dataset}/{cell}/items.parquet",
    log:
        "results/logs/collect_states/{model}.{dataset}.{cell}.log",
    benchmark:
        "results/benchmarks/collect_states/{model}.{dataset}.{cell}.tsv"
    threads: LOADED.threads("collect_states")
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 720 * attempt,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("collect_states", "settings"),
        adapters=option("collect_states", "--adapters", "adapters"),
        code=code("collect_states"),
    message:
        "Collect states of {wildcards.model} for {wildcards.dataset} ({wildcards.cell})"
    shell:
        "python -m reprlab.stages.collect_states --model {input.model} --tokenizer {input.tokenizer}"
        " --prompts {input.prompts} {params.adapters} --settings {params.settings:q} --out {output.states}"
        " --items {output.answers} --device {config[runtime][device]} --threads {threads}"
        " --log {log} --log-level {config[runtime][log_level]}"


rule estimate_dimension:
    input:
        states="results/shared/states/{model}/{dataset}/{cell}/layers",
    output:
        "results/shared/dimensions/{model}/{dataset}/{cell}.tsv",
    log:
        "results/logs/estimate_dimension/{model}.{dataset}.{cell}.log",
    benchmark:
        "results/benchmarks/estimate_dimension/{model}.{dataset}.{cell}.tsv"
    threads: LOADED.threads("estimate_dimension")
    resources:
        mem_mb=2000,
        runtime=240,
        gpu=1 if count_gpus() else 0,
    params:
        settings=setting("estimate_dimension", "settings"),
        code=code("estimate_dimension"),
    message:
        "Estimate dimensions of {wildcards.model} for {wildcards.dataset} ({wildcards.cell})"
    shell:
        "python -m reprlab.stages.estimate_dimension --states {input.states} --settings {params.settings:q}"
        " --out {output} --device {config[runtime][device]} --threads {threads}"
        " --log {log} --log-level {config[runtime][log_level]}"
