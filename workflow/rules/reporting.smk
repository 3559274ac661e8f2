"""Tables, comparison, audit, claims, figures and the report, for any paper."""


rule gather_results:
    input:
        given("gather_results", "inputs"),
    output:
        frame="results/{paper}/results.parquet",
        provenance="results/{paper}/results.provenance.json",
    log:
        "results/logs/gather_results/{paper}.log",
    benchmark:
        "results/benchmarks/gather_results/{paper}.tsv"
    threads: LOADED.threads("gather_results")
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        settings=setting("gather_results", "settings"),
        inputs=lambda wildcards, input: repeated("--inputs", input),
        code=code("gather_results"),
    message:
        "Gather the results of {wildcards.paper}"
    shell:
        "python -m reprlab.stages.gather_results {params.inputs} --settings {params.settings:q} --out {output.frame}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule tabulate_paper:
    input:
        given("tabulate_paper", "inputs"),
    output:
        table="results/{paper}/{table}.tsv",
        provenance="results/{paper}/{table}.provenance.json",
    log:
        "results/logs/tabulate_paper/{paper}.{table}.log",
    benchmark:
        "results/benchmarks/tabulate_paper/{paper}.{table}.tsv"
    threads: LOADED.threads("tabulate_paper")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        layout=setting("tabulate_paper", "layout"),
        inputs=lambda wildcards, input: repeated("--inputs", input),
        code=code("tabulate_paper"),
    message:
        "Write the table {wildcards.table} of {wildcards.paper}"
    shell:
        "python -m reprlab.stages.tabulate_paper --paper {params.module} --table {wildcards.table}"
        " --layout {params.layout:q} {params.inputs} --out {output.table}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule compare_published:
    input:
        tables=given("compare_published", "tables"),
        published=lambda wildcards: published_tables(wildcards.paper),
    output:
        table="results/{paper}/comparison.tsv",
        provenance="results/{paper}/comparison.provenance.json",
    log:
        "results/logs/compare_published/{paper}.log",
    benchmark:
        "results/benchmarks/compare_published/{paper}.tsv"
    threads: LOADED.threads("compare_published")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        scale=setting("compare_published", "scale"),
        tables=lambda wildcards, input: repeated("--tables", input.tables),
        published=lambda wildcards, input: repeated("--published", input.published),
        code=code("compare_published"),
    message:
        "Put the numbers of {wildcards.paper} beside the published ones"
    shell:
        "python -m reprlab.stages.compare_published --paper {params.module} --scale {params.scale}"
        " {params.tables} {params.published} --out {output.table}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule audit_paper:
    input:
        published=lambda wildcards: published_tables(wildcards.paper, "**/*.tsv"),
        models=os.path.relpath(ROOT / "config/models.yaml", RUN_FOLDER),
    output:
        table="results/{paper}/audit.tsv",
        provenance="results/{paper}/audit.provenance.json",
    log:
        "results/logs/audit_paper/{paper}.log",
    benchmark:
        "results/benchmarks/audit_paper/{paper}.tsv"
    threads: LOADED.threads("audit_paper")
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        published=lambda wildcards, input: repeated("--published", input.published),
        code=code("audit_paper"),
    message:
        "Audit the arithmetic of {wildcards.paper}"
    shell:
        "python -m reprlab.stages.audit_paper --paper {params.module} {params.published} --models {input.models}"
        " --out {output.table} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule test_claims:
    input:
        given("test_claims", "inputs"),
    output:
        table="results/{paper}/claims.tsv",
        provenance="results/{paper}/claims.provenance.json",
    log:
        "results/logs/test_claims/{paper}.log",
    benchmark:
        "results/benchmarks/test_claims/{paper}.tsv"
    threads: LOADED.threads("test_claims")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        layout=setting("test_claims", "layout"),
        inputs=lambda wildcards, input: repeated("--inputs", input),
        code=code("test_claims"),
    message:
        "Test the claims of {wildcards.paper}"
    shell:
        "python -m reprlab.stages.test_claims --paper {params.module} --layout {params.layout:q} {params.inputs}"
        " --out {output.table} --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule estimate_cost:
    input:
        given("estimate_cost", "inputs"),
    output:
        table="results/{paper}/cost.tsv",
        provenance="results/{paper}/cost.provenance.json",
    log:
        "results/logs/estimate_cost/{paper}.log",
    benchmark:
        "results/benchmarks/estimate_cost/{paper}.tsv"
    threads: LOADED.threads("estimate_cost")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        layout=setting("estimate_cost", "layout"),
        inputs=lambda wildcards, input: repeated("--inputs", input),
        code=code("estimate_cost"),
    message:
        "Estimate the cost of {wildcards.paper}"
    shell:
        "python -m reprlab.stages.estimate_cost --layout {params.layout:q} {params.inputs}"
        " --benchmarks results/benchmarks --out {output.table}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule plot_figure:
    input:
        tables=given("plot_figure", "tables"),
        published=lambda wildcards: published_tables(wildcards.paper),
    output:
        png="results/{paper}/{figure}.png",
        svg="results/{paper}/{figure}.svg",
    log:
        "results/logs/plot_figure/{paper}.{figure}.log",
    benchmark:
        "results/benchmarks/plot_figure/{paper}.{figure}.tsv"
    threads: LOADED.threads("plot_figure")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        module=lambda wildcards: module_of(wildcards.paper),
        scale=setting("plot_figure", "scale"),
        tables=lambda wildcards, input: repeated("--tables", input.tables),
        published=lambda wildcards, input: repeated("--published", input.published),
        code=code("plot_figure"),
    message:
        "Draw {wildcards.figure} of {wildcards.paper}"
    shell:
        "python -m reprlab.stages.plot_figure --paper {params.module} --figure {wildcards.figure}"
        " --scale {params.scale} {params.tables} {params.published} --png {output.png} --svg {output.svg}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"


rule draw_stage_graph:
    input:
        [path for paper in LOADED.workflow.build for path in PLAN.targets[paper]],
    output:
        "results/shared/stage_graph.dot",
    log:
        "results/logs/draw_stage_graph.log",
    benchmark:
        "results/benchmarks/draw_stage_graph/all.tsv"
    threads: LOADED.threads("draw_stage_graph")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        papers=[module_of(paper) for paper in LOADED.workflow.build],
    message:
        "Draw the graph of stages"
    shell:
        # A dry planning of the same targets: it takes no lock and makes no file but the graph.
        "snakemake --snakefile {SNAKEFILE:q} --nolock --rulegraph dot --quiet all"
        " --config scale={LOADED.scale} {USER_CONFIG} -- {params.papers} > {output} 2> {log}"


rule write_report:
    input:
        graph="results/shared/stage_graph.dot",
        results=[
            path for paper in LOADED.workflow.build for path in PLAN.targets[paper]
        ],
        receipts=[
            f"results/shared/archives/{archive}.json"
            for archive in PLAN.jobs["fetch_archive"]
        ],
    output:
        page="results/report.html",
        summary="results/summary.tsv",
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report/all.tsv"
    threads: LOADED.threads("write_report")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        papers=repeated(
            "--papers", [f"results/{paper}" for paper in LOADED.workflow.build]
        ),
        scale=LOADED.scale,
        receipts=lambda wildcards, input: repeated("--receipts", input.receipts),
        code=code_digest(
            "write_report",
            *[f"papers.{module_of(paper)}.about" for paper in LOADED.workflow.build],
        ),
    message:
        "Write the report"
    shell:
        "python -m reprlab.stages.write_report {params.papers} --scale {params.scale} --graph {input.graph}"
        " --benchmarks results/benchmarks {params.receipts} --out {output.page} --summary {output.summary}"
        " --log {log} --log-level {config[runtime][log_level]} --threads {threads}"
