"""Intrinsic dimension of learning paradigms (Janapati and Ji): what no other paper has."""


rule intrinsic_dimension:
    input:
        PLAN.targets["intrinsic-dimension"],
    message:
        "All of intrinsic-dimension"
