# reprlab: the fourteen papers of RepL4NLP 2025 as one workflow. `config/README.md` is the manual.
from snakemake.utils import min_version

min_version("9.20")


include: "workflow/rules/common.smk"


workdir: LOADED.run_folder


include: "workflow/rules/acquire.smk"
include: "workflow/rules/text.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/reporting.smk"
include: "workflow/papers/depth.smk"


localrules:
    all,
    fetch_archive,
    write_report,
    draw_stage_graph,


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/summary.tsv",
