"""DEPTH (Bamberger et al.): what no other paper has."""


rule preview_corruption:
    input:
        inputs("preview_corruption"),
    output:
        **outputs("preview_corruption"),
    log:
        log_of("preview_corruption"),
    benchmark:
        benchmark_of("preview_corruption")
    threads: LOADED.threads("preview_corruption")
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        key=key_of,
        job=digest("preview_corruption"),
    message:
        "Show corrupted examples of {wildcards.objective}"
    shell:
        COMMAND
