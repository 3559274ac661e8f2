"""Amuro & Char (Sun and Dredze): what no other paper has."""


rule amuro_char:
    input:
        PLAN.targets["amuro-char"],
    message:
        "All of amuro-char"
