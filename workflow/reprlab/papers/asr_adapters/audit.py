"""The audit: what needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import torch
from torch import nn

from reprlab.audio.adapters import ConvAdapter, FFAdapter, counts, tune
from reprlab.audio.recognition import Recogniser, Vocabulary
from reprlab.audio.scores import error_counts
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


def counted(given: Given, *, model: str, method: str, part: str) -> int:
    """5.1: parameters on the meta device."""
    tuning = _TUNINGS[method]
    with torch.device("meta"):
        encoder = build_from_config(given.entry(model))
        tune(encoder, tuning)
    return counts(encoder, tuning, _SYMBOLS)[part]


def millions(given: Given, *, model: str, method: str) -> Found:
    """8.1: the same as the paper prints it."""
    value = counted(given, model=model, method=method, part="adapters")
    return found(f"{rounded(Decimal(value) / 10**6, 0)}M", exact=f"{value:,}")


def share(given: Given) -> str:
    """8.2: the trained share of the largest model."""
    trained, whole = (counted(given, model="xls_r_2b", method="ff", part=part) for part in ("trained", "backbone"))
    return f"{rounded(Decimal(100 * trained) / whole, 2)}%"


def identities(given: Given) -> Iterator[str]:
    """5.2: what adapters must do, on states drawn once."""
    torch.manual_seed(0)
    states, conv, ff = torch.randn(2, 5, 8), ConvAdapter(8, 8), FFAdapter(8, 4)
    linear = nn.functional.linear(states, conv.first.weight[:, :, 0], conv.first.bias)
    yield _word(torch.allclose(conv.first(states.transpose(1, 2)).transpose(1, 2), linear, atol=1e-6))
    kept = conv(states)
    nn.init.zeros_(conv.second.weight)
    nn.init.zeros_(conv.second.bias)  # type: ignore[arg-type]
    yield _word(torch.equal(conv(states), states))
    yield _word(bool((kept >= states).all()))
    for parameter in ff.inside[-1].parameters():
        nn.init.zeros_(parameter)
    normed = nn.functional.layer_norm(states, (8,))
    yield _word(torch.allclose(ff(states), normed, atol=1e-6) and not torch.allclose(normed, states, atol=1e-2))


def _word(holds: bool) -> str:
    return "true" if holds else "false"


def frames(given: Given, *, samples: str) -> int:
    """5.3: frames of wav2vec 2.0."""
    with torch.device("meta"):
        recogniser = Recogniser(build_from_config(given.entry("xls_r_300m")), _SYMBOLS, 1.0)
    return int(recogniser.frames(int(samples)))


def collapsed(given: Given) -> str:
    """5.4: repeats are merged, blanks dropped."""
    vocabulary = Vocabulary(" ab")
    return vocabulary.collapse([3, 3, 0, 3, 1, 2, 2])


def example_rate(given: Given) -> Decimal:
    """5.5: errors of words."""
    counts_of = error_counts(["a b c", "d"], ["a c", "e"])
    return Decimal(sum(counts_of["word_errors"])) / sum(counts_of["words"])


def untransferred(given: Given, *, language: str) -> Found:
    """5.6: the cell of Table 2 beside Table 5."""
    subset = "clean" if language == "en" else "all"
    row = given.cells["table2"][f"3000 xls_r_2b ff {language} {subset}"]
    own = given.cells["table5"][f"{language} none"]["test_clean"]
    return found(row["adapter"], row["adapter"] == own)


def maltese(given: Given, *, split: str) -> str:
    """8.7: hours in Table 1."""
    return given.cells["table1"]["mt"][split]


def same_run(given: Given) -> int:
    """8.8: cells of full tuning that stand in both rows."""
    cells = given.cells["table2"]
    return sum(
        row["ft"] == cells[name.replace(" conv ", " ff ")]["ft"]
        for name, row in cells.items()
        if row["method"] == "conv"
    )
