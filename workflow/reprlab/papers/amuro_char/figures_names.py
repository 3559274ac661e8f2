"""Which figure is drawn from which table, and what it shows. Apart from the drawing, which imports more."""

from __future__ import annotations

import textwrap
from typing import Any

# Characters of a title that fit in an inch.
_CHARACTERS_OF_INCH = 13
_WIDTH_OF_NAME, _LINES_OF_NAME = 40, 2

FIGURES = {
    "fig2_fig14_format": "format",
    "fig3": "format",
    "fig5": "ood_change",
    "fig15": "ood_change",
    "fig6_fewshot_base": "fig6_fewshot_base",
    "fig7": "curves",
    "fig8": "table6_perf_diff",
    "fig9": "curves",
    "fig10": "curves",
    "fig11": "curves",
    "fig12": "curves",
    "fig13": "curves",
}
CAPTIONS = {
    "fig2_fig14_format": "Three formats of the prompt, before and after fine-tuning (Figures 2, 14).",
    "fig3": "Formats at the final checkpoint (Figure 3).",
    "fig5": "Out-of-domain change by task, mean over checkpoints (Figure 5).",
    "fig15": "Out-of-domain change by task, final checkpoint (Figure 15).",
    "fig6_fewshot_base": "Models before fine-tuning along pre-training (Figure 6).",
    "fig7": "A set that pre-training solves and one that it does not (Figure 7).",
    "fig8": "Mean gain of fine-tuning by group of sets (Figure 8).",
    "fig9": "The instruction-tuned model (Figure 9).",
    "fig10": "Fine-tuning in domain (Figure 10).",
    "fig11": "Fine-tuning out of domain (Figure 11).",
    "fig12": "Trained on classification, scored on another task (Figure 12).",
    "fig13": "Trained on generation, scored on classification (Figure 13).",
}


def give_title(made: Any, figure: str, scale: str, about: str = "") -> None:
    """Title of a figure, wrapped to its width. Below paper scale it says where the data are named."""
    about = f"{about}, scale {scale}" if about else f"scale {scale}"
    about += "" if scale == "paper" else f"; true names of the data in {FIGURES[figure]}.tsv"
    width = int(made.get_figwidth() * _CHARACTERS_OF_INCH)
    lines = [textwrap.fill(text, width) for text in (CAPTIONS[figure].rstrip("."), about)]
    made.suptitle("\n".join(lines), fontsize=9)


def name_of_data(values: Any) -> str:
    """True name of a panel's data in small lines below its title."""
    lines = textwrap.wrap(str(next(iter(values), "")), _WIDTH_OF_NAME)
    more = "..." if len(lines) > _LINES_OF_NAME else ""
    return "\n".join(lines[:_LINES_OF_NAME]) + more
