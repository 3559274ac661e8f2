"""Tables, comparison, audit, claims, figures and the report, for any paper."""


rule tabulate_paper:
    message:
        "Write the table {wildcards.table} of {wildcards.paper}"
    input:
        given("tabulate_paper", "inputs"),
    output:
        "results/{paper}/{table}.tsv",
    log:
        "results/logs/tabulate_paper/{paper}.{table}.log",
    benchmark:
        "results/benchmarks/tabulate_paper/{paper}.{table}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        layout=setting("tabulate_paper", "layout"),
        inputs=lambda wildcards, input: repeated("--inputs", input),
        code=code("tabulate_paper"),
    shell:
        "python -m reprlab.stages.tabulate_paper --paper {params.module} --table {wildcards.table}"
        " --layout {params.layout:q} {params.inputs} --out {output}"
        " --log {log} --log-level {config[runtime][log_level]}"


rule compare_published:
    message:
        "Put the numbers of {wildcards.paper} beside the published ones"
    input:
        tables=given("compare_published", "tables"),
        published=lambda wildcards: published_tables(wildcards.paper),
    output:
        "results/{paper}/comparison.tsv",
    log:
        "results/logs/compare_published/{paper}.log",
    benchmark:
        "results/benchmarks/compare_published/{paper}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        scale=setting("compare_published", "scale"),
        tables=lambda wildcards, input: repeated("--tables", input.tables),
        published=lambda wildcards, input: repeated("--published", input.published),
        code=code("compare_published"),
    shell:
        "python -m reprlab.stages.compare_published --paper {params.module} --scale {params.scale}"
        " {params.tables} {params.published} --out {output}"
        " --log {log} --log-level {config[runtime][log_level]}"


rule audit_paper:
    message:
        "Audit the arithmetic of {wildcards.paper}"
    input:
        published=lambda wildcards: published_tables(wildcards.paper),
    output:
        "results/{paper}/audit.tsv",
    log:
        "results/logs/audit_paper/{paper}.log",
    benchmark:
        "results/benchmarks/audit_paper/{paper}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        published=lambda wildcards, input: repeated("--published", input.published),
        code=code("audit_paper"),
    shell:
        "python -m reprlab.stages.audit_paper --paper {params.module} {params.published} --out {output}"
        " --log {log} --log-level {config[runtime][log_level]}"


rule test_claims:
    message:
        "Test the claims of {wildcards.paper}"
    input:
        given("test_claims", "inputs"),
    output:
        "results/{paper}/claims.tsv",
    log:
        "results/logs/test_claims/{paper}.log",
    benchmark:
        "results/benchmarks/test_claims/{paper}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        layout=setting("test_claims", "layout"),
        inputs=lambda wildcards, input: repeated("--inputs", input),
        code=code("test_claims"),
    shell:
        "python -m reprlab.stages.test_claims --paper {params.module} --layout {params.layout:q} {params.inputs}"
        " --out {output} --log {log} --log-level {config[runtime][log_level]}"


ruleorder: compare_published > audit_paper > test_claims > tabulate_paper
