# reprlab: the fourteen papers of RepL4NLP 2025 as one workflow. `config/README.md` is the manual.
from snakemake.utils import min_version

min_version("9.20")


include: "workflow/rules/common.smk"
include: "workflow/rules/stages.smk"


workdir: RUN_FOLDER


include: "workflow/rules/acquire.smk"
include: "workflow/rules/text.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/vocabulary.smk"
include: "workflow/rules/training.smk"
include: "workflow/rules/representations.smk"
include: "workflow/rules/completions.smk"
include: "workflow/rules/evaluation.smk"
include: "workflow/rules/events.smk"
include: "workflow/rules/reporting.smk"
include: "workflow/papers/depth.smk"
include: "workflow/papers/vocab_memory.smk"


# On a cluster these run where Snakemake does: downloads need a network, and reports take seconds.
localrules:
    all,
    fetch_archive,
    select_learning_rate,
    tabulate_paper,
    compare_published,
    test_claims,
    plot_figure,
    write_report,


# All of a paper, by its name with hyphens or with underscores.
for slug in PLAN.targets:
    for name in sorted({slug, slug.replace("-", "_")}):

        rule:
            name:
                name
            input:
                PLAN.targets[slug],
            message:
                f"All of {slug}"


rule all:
    default_target: True
    input:
        "results/report.html",
        "results/summary.tsv",
