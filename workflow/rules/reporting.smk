"""Tables, comparison, audit, claims, figures and the report, for any paper."""


rule gather_results:
    input:
        inputs("gather_results"),
    output:
        **outputs("gather_results"),
    log:
        log_of("gather_results"),
    benchmark:
        benchmark_of("gather_results")
    threads: LOADED.threads("gather_results")
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        key=key_of,
        job=digest("gather_results"),
    message:
        "Gather the results of {wildcards.paper}"
    shell:
        COMMAND


rule tabulate_paper:
    input:
        inputs("tabulate_paper"),
    output:
        **outputs("tabulate_paper"),
    log:
        log_of("tabulate_paper"),
    benchmark:
        benchmark_of("tabulate_paper")
    threads: LOADED.threads("tabulate_paper")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("tabulate_paper"),
    message:
        "Write the table {wildcards.table} of {wildcards.paper}"
    shell:
        COMMAND


rule sample_predictions:
    input:
        inputs("sample_predictions"),
    output:
        **outputs("sample_predictions"),
    log:
        log_of("sample_predictions"),
    benchmark:
        benchmark_of("sample_predictions")
    threads: LOADED.threads("sample_predictions")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("sample_predictions"),
    message:
        "Sample predictions of {wildcards.paper} for annotation"
    shell:
        COMMAND


rule compare_published:
    input:
        inputs("compare_published"),
    output:
        **outputs("compare_published"),
    log:
        log_of("compare_published"),
    benchmark:
        benchmark_of("compare_published")
    threads: LOADED.threads("compare_published")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        key=key_of,
        job=digest("compare_published"),
    message:
        "Put the numbers of {wildcards.paper} beside the published ones"
    shell:
        COMMAND


rule audit_paper:
    input:
        inputs("audit_paper"),
    output:
        **outputs("audit_paper"),
    log:
        log_of("audit_paper"),
    benchmark:
        benchmark_of("audit_paper")
    threads: LOADED.threads("audit_paper")
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        key=key_of,
        job=digest("audit_paper"),
    message:
        "Audit the arithmetic of {wildcards.paper}"
    shell:
        COMMAND


rule test_claims:
    input:
        inputs("test_claims"),
    output:
        **outputs("test_claims"),
    log:
        log_of("test_claims"),
    benchmark:
        benchmark_of("test_claims")
    threads: LOADED.threads("test_claims")
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        key=key_of,
        job=digest("test_claims"),
    message:
        "Test the claims of {wildcards.paper}"
    shell:
        COMMAND


rule estimate_cost:
    input:
        inputs("estimate_cost"),
    output:
        **outputs("estimate_cost"),
    log:
        log_of("estimate_cost"),
    benchmark:
        benchmark_of("estimate_cost")
    threads: LOADED.threads("estimate_cost")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        key=key_of,
        job=digest("estimate_cost"),
    message:
        "Estimate the cost of {wildcards.paper}"
    shell:
        COMMAND


rule sum_hours:
    input:
        inputs("sum_hours"),
    output:
        **outputs("sum_hours"),
    log:
        log_of("sum_hours"),
    benchmark:
        benchmark_of("sum_hours")
    threads: LOADED.threads("sum_hours")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        key=key_of,
        job=digest("sum_hours"),
    message:
        "Sum the hours of {wildcards.paper}"
    shell:
        COMMAND


rule plot_figure:
    input:
        inputs("plot_figure"),
    output:
        **outputs("plot_figure"),
    log:
        log_of("plot_figure"),
    benchmark:
        benchmark_of("plot_figure")
    threads: LOADED.threads("plot_figure")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        key=key_of,
        job=digest("plot_figure"),
    message:
        "Draw {wildcards.figure} of {wildcards.paper}"
    shell:
        COMMAND


rule write_report:
    input:
        inputs("write_report"),
    output:
        **outputs("write_report"),
    log:
        log_of("write_report"),
    benchmark:
        benchmark_of("write_report")
    threads: LOADED.threads("write_report")
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        key=key_of,
        job=digest("write_report"),
    message:
        "Write the report"
    shell:
        COMMAND
