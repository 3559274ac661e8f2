"""The audit: what needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from decimal import Decimal

import torch

from reprlab.audio.adapters import counts, tune
from reprlab.audio.settings import Tuning
from reprlab.models.build import build_from_config
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of

TABLES = printed_of("asr-adapters").declarations()
_SYMBOLS = 32
_TUNINGS = {
    "ff": Tuning(method="ff"),
    "six": Tuning(method="ff", depth=6),
    "six_more": Tuning(method="ff", depth=8),
    "conv": Tuning(method="conv", inner=None),
    "conv_k3": Tuning(method="conv", inner=256, kernel=3),
}


def _counted(given: Given, *, model: str, method: str, part: str) -> int:
    """Parameters on the meta device."""
    tuning = _TUNINGS[method]
    with torch.device("meta"):
        encoder = build_from_config(given.entry(model))
        tune(encoder, tuning)
    return counts(encoder, tuning, _SYMBOLS)[part]


def millions(given: Given, *, model: str, method: str) -> Found:
    """8.1: the same as the paper prints it."""
    value = _counted(given, model=model, method=method, part="adapters")
    return found(f"{rounded(Decimal(value) / 10**6, 0)}M", exact=f"{value:,}")


def share(given: Given) -> str:
    """8.2: the trained share of the largest model."""
    trained, whole = (_counted(given, model="xls_r_2b", method="ff", part=part) for part in ("trained", "backbone"))
    return f"{rounded(Decimal(100 * trained) / whole, 2)}%"


def untransferred(given: Given, *, language: str) -> Found:
    """5.6: the cell of Table 2 beside Table 5."""
    subset = "clean" if language == "en" else "all"
    row = given.cells["table2"][f"3000 xls_r_2b ff {language} {subset}"]
    own = given.cells["table5"][f"{language} none"]["test_clean"]
    return found(row["adapter"], printed=own)


def maltese(given: Given, *, split: str) -> str:
    """8.7: hours in Table 1."""
    return given.cells["table1"]["mt"][split]


def same_run(given: Given) -> Found:
    """8.8: cells of full tuning that stand in both rows."""
    cells = given.cells["table2"]
    conv = {name: row["ft"] for name, row in cells.items() if row["method"] == "conv"}
    same = sum(value == cells[name.replace(" conv ", " ff ")]["ft"] for name, value in conv.items())
    return found(same, same == len(conv), total=len(conv))
