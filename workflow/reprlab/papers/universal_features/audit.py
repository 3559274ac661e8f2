"""The audit: what needs neither training nor data nor network, by the numbers of section 5 of the specification."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reprlab.reporting.audit import AGREES, DIFFERS, AuditRow, rounded
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_kinds import equal
from reprlab.results.words import printed_of

_MATRICES = {
    "embed_tokens": 16_384_000, "lm_head": 16_384_000, "q_proj": 262_144, "o_proj": 262_144, "k_proj": 131_072,
    "v_proj": 131_072, "gate_proj": 524_288, "up_proj": 524_288, "down_proj": 524_288,
}  # fmt: skip
TABLES = printed_of("universal-features").declarations()


def rows(given: Given) -> Iterator[AuditRow]:
    """All rows of the audit."""
    for id, what, printed, recomputed, note in (*_sizes(given), *_published(given)):
        same = equal(str(printed), str(recomputed))
        yield AuditRow(id, what, str(printed), str(recomputed), AGREES if same else DIFFERS, note)


def _sizes(given: Given) -> Iterator[tuple[str, str, object, object, str]]:
    """5.1, 5.2: parameters on the meta device and by formula."""
    import torch

    from reprlab.features.autoencoder import SparseAutoencoder, parameter_count
    from reprlab.features.settings import AutoencoderShape
    from reprlab.models.build import build_from_config

    entry = given.entry("mistral_1l_tiny")
    with torch.device("meta"):
        model = build_from_config(entry)
    coder = SparseAutoencoder(1024, AutoencoderShape(features=16_384, l1=0))
    total = sum(parameter.numel() for parameter in model.parameters())
    yield "5.1a", "Parameters of the language model", given.said["parameters_exact"], total, "known answer"
    shown = f"{rounded(Decimal(total) / 10**6, 1)}M"
    yield "5.1b", "The same on the card", given.said["parameters"], shown, ""
    parts = {name.split(".")[-2]: parameter.numel() for name, parameter in model.named_parameters()}
    wanted = _MATRICES
    shown = ", ".join(f"{name} {parts[name]:,}" for name in wanted)
    known = ", ".join(f"{name} {count:,}" for name, count in wanted.items())
    yield "5.1c", "Its matrices", known, shown, "known answer"
    two = entry.model_copy(update={"config": {**entry.config, "num_hidden_layers": 2}})
    with torch.device("meta"):
        second = sum(parameter.numel() for parameter in build_from_config(two).parameters())
    yield "5.1d", "Parameters with two layers", given.said["parameters_two_layers"], second, "known answer"
    megabytes = rounded(Decimal(2 * total) / 10**6, 1)
    yield "5.1e", "Size of the merged model in float16, MB", given.said["merged_megabytes"], megabytes, ""
    wanted_size = given.said["autoencoder_parameters"]
    yield "5.2a", "Parameters of an autoencoder, by formula", wanted_size, parameter_count(1024, 16_384), "known answer"
    counted = sum(parameter.numel() for parameter in coder.parameters())
    yield "5.2b", "The same of the module", wanted_size, counted, "known answer"


def _published(given: Given) -> Iterator[tuple[str, str, object, object, str]]:
    """5.11, 5.12: the released sweep, and the rows of the data sets."""
    sweep = [{name: Decimal(row[name]) for name in row if name != "source"} for row in given.cells["sweep"].values()]
    for letter, column, rising in (("a", "lua_accuracy", True), ("b", "stories_accuracy", False)):
        values = [row[column] for row in sweep]
        ordered = values == sorted(values, reverse=not rising)
        word = "rises" if rising else "falls"
        yield (
            f"5.11{letter}",
            f"Along the released sweep {column.replace('_', ' ')}",
            word,
            word if ordered else "does not",
            "",
        )
    card = given.cells["cards"]["lua"]["accuracy"]
    yield "5.11c", "Accuracy on Lua at its end is that of the card of Lua", card, sweep[-1]["lua_accuracy"], ""
    ahead = [row["lua_accuracy"] > row["stories_accuracy"] for row in sweep]
    crossing = f"{sweep[ahead.index(True) - 1]['t']} to {sweep[ahead.index(True)]['t']}"
    note = "0.58 of the merge is 0.42 on this axis, and not where the curves cross"
    yield "5.11d", "The curves cross between t =", "0.01 to 0.21", crossing, note
    stories = given.cells["cards"]["stories"]["accuracy"]
    note = "another checkpoint, or other text: the sweep begins 2 points lower"
    yield (
        "8.1",
        "Accuracy on stories at t = 0.01 against the card of stories",
        stories,
        sweep[0]["stories_accuracy"],
        note,
    )
    base = Decimal(given.said["base_rows"]) / 10**6
    lua, more = Decimal(given.said["lua_rows"]) / 1000, Decimal(given.said["stories_rows"])
    for letter, name, total, note in (
        ("a", "lua_mixture", base + lua, ""),
        ("b", "stories_mixture", base + more, ""),
        ("c", "three_way_mixture", base + lua + more, "as many as the Lua mixture: stories are very probably missing"),
    ):  # fmt: skip
        what = f"Rows of the {name.replace('_', ' ')}, millions"
        yield f"5.12{letter}", what, given.said[name], rounded(total, 1), note
