# reprlab: papers of RepL4NLP 2025 as one workflow. `config/README.md` is the manual.
include: "workflow/Snakefile"


# An included file may not say what is made by default.
workflow.default_target = "all"
