"""Every row of an audit checks something: its recomputed side follows a second source, and its verdict can fall.

The printed tables, the registry of models and the published settings are changed in memory, a few times over, and the
audit is run on what comes out. A row is refused

- whose recomputed side stays as it is whatever the sources say: a constant that somebody typed in, or a known answer of
  this workflow, which is a test;
- that agrees whatever they say: both of its sides are one cell;
- that prints a number which stands in no printed table: what the paper prints has its place there, and its source.
"""

import copy
import random
import re
from decimal import Decimal
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from reprlab.config.papers import SLUGS
from reprlab.plugins import load_plugin
from reprlab.reporting.audit import AGREES, NOT_CHECKABLE
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_records import RECORDS, audit_records, read_records
from reprlab.reporting.published import PublishedTable

ROOT = Path(__file__).parents[2]
# Rows that no change of a source moves, and why they stay.
ALLOWED = {
    ("depth", "5.9"): "what chance gives is a formula; the printed range that it is compared with moves the verdict",
    ("prompt-tuning-encoders", "5.1.share.1"): "all of a model is 100 % of it, whatever its size",
}
# What is changed, in the order in which it is tried until each row has moved; some changes hang on the draw.
CHANGES = ("printed", "deeper", "printed", "wider", "fewer", "shuffled", "printed", "emptied", "keyed", "settings",
           "fewer settings", "fewer", "shuffled", "emptied", "fewer", "emptied", "fewer", "keyed",
           *4 * ("printed",))  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# A number by itself, neither a part of a name nor a place in the paper.
_ALONE = re.compile(r"(?<![\w.])(?<!\w-)\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d)")
_PLACE = re.compile(r"\((?:section|footnote|appendix|Table)[^)]*\)")
_LAYERS = ("num_hidden_layers", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
_WIDTHS = ("hidden_size", "d_model", "word_embed_proj_dim")
_STATEMENTS = "statements"


class Audit:
    """The audit of a paper, on what is given or on something else."""

    def __init__(self, slug):
        self.module = load_plugin("papers", f"{slug}.audit")
        folder, self.declared = ROOT / "resources/published" / slug, self.module.TABLES
        published = [*sorted(folder.iterdir()), ROOT / f"config/papers/{slug}.yaml"]
        settings = self.module.SETTINGS(published, slug) if hasattr(self.module, "SETTINGS") else None
        self.given = Given(published, ROOT / "config/models.yaml", self.declared, settings)
        self.at_once = hasattr(self.module, "rows")
        records = {} if self.at_once else read_records(folder / RECORDS)
        # One record at a time: some refuse what no paper would print.
        self.parts = [""] if self.at_once else [id for id, record in records.items() if record.check]

    def rows(self, given, part):
        checks = getattr(self.module, "CHECKS", vars(self.module))
        found = self.module.rows(given) if self.at_once else audit_records(given, checks, part)
        return {row.id: row for row in found}


def moved(text, draw):
    """The text with other numbers of as many decimals."""

    def other(match):
        step = Decimal(1).scaleb(-len(match[0].partition(".")[2]))
        value = Decimal(match[0])
        new = (value * Decimal(str(4 ** draw.uniform(-1, 1)))).quantize(step)
        return str(new if new != value else value + step)

    return _NUMBER.sub(other, text)


def changed(given, declared, change, draw):
    """What is given, with one of its sources changed; `declared` are the tables that may change."""
    new, tables = copy.copy(given), {name: table.copy() for name, table in given.tables.items()}
    for name, table in declared.items():
        values, rows = [*table.values], tables[name]
        if change == "printed":
            rows[values] = rows[values].map(lambda cell: moved(cell, draw))
        elif name == _STATEMENTS:
            continue
        elif change == "fewer":
            tables[name] = rows.drop(index=draw.randrange(len(rows))).reset_index(drop=True)
        elif change == "emptied":
            rows[values[draw.randrange(len(values)) :]] = ""
        elif change == "shuffled" or (change == "keyed" and len(table.keys) > 1):
            for column in values if change == "shuffled" else table.keys[:1]:
                cells = rows[column].tolist()
                draw.shuffle(cells)
                rows[column] = cells
    if change in ("deeper", "wider"):
        new.registry = {name: larger(entry, change) for name, entry in given.registry.items()}
    elif "settings" in change:
        new.settings = other_settings(given.settings, draw, fewer=change != "settings")
    new.take(tables, given.declared)
    return new


def larger(entry, change):
    """A model with a layer and a few tokens more, or of twice the width."""
    config = dict(entry.config)
    if change == "wider":
        config.update({name: 2 * config[name] for name in _WIDTHS if isinstance(config.get(name), int)})
    else:
        more = {**dict.fromkeys(_LAYERS, 1), "vocab_size": 64}
        config.update({name: config[name] + count for name, count in more.items() if name in config})
    return entry.model_copy(update={"config": config})


def other_settings(value, draw, fewer):
    """Settings with other whole numbers and shorter lists, or without the last entry of each mapping."""
    if hasattr(value, "model_copy"):
        fields = {name: other_settings(getattr(value, name), draw, fewer) for name in type(value).model_fields}
        return value.model_copy(update=fields)
    if isinstance(value, dict):
        kept = list(value.items())[: max(1, len(value) - fewer)]
        return {name: other_settings(one, draw, fewer) for name, one in kept}
    if isinstance(value, list | tuple):
        kept = value[: max(1, len(value) - (not fewer))]
        return type(value)(other_settings(one, draw, fewer) for one in kept)
    if isinstance(value, int) and not isinstance(value, bool) and not fewer:
        return value + draw.randint(1, 3)
    return value


def refused(audit):
    """What is wrong with the rows that check nothing, by their ids."""
    found = {}
    for part in audit.parts:
        plain = {id: row for id, row in audit.rows(audit.given, part).items() if row.verdict != NOT_CHECKABLE}
        follows, falls = set(), {id for id, row in plain.items() if row.verdict != AGREES}
        prints = {id for id, row in plain.items() if set(_ALONE.findall(_PLACE.sub("", row.printed))) <= {"0"}}
        for rows in changes(audit, part):
            both = [(id, row, rows[id]) for id, row in plain.items() if id in rows]
            follows |= {id for id, row, new in both if new.recomputed != row.recomputed}
            falls |= {id for id, _, new in both if new.verdict != AGREES}
            prints |= {id for id, row, new in both if new.printed != row.printed}
            if plain.keys() == follows & falls & prints:
                break
        wrong = {"follows no source": follows, "cannot fall": falls, "prints what is in no table": prints}
        found |= {id: [why for why, good in wrong.items() if id not in good] for id in plain}
    return {id: why for id, why in found.items() if why}


def changes(audit, part):
    """The rows of a part for each change of a source, where it can be audited."""
    tables = [{name: table} for name, table in audit.declared.items()] if audit.at_once else [audit.declared]
    for place, (change, declared) in enumerate(product(CHANGES, tables)):
        if "settings" in change and audit.given.settings is None:
            continue
        given = changed(audit.given, declared, change, random.Random(place))
        try:
            yield audit.rows(given, part)
        except Exception:
            # An audit need not stand every change: a source without rows or columns may end it in any error. One that
            # stands none has rows that never move, which is what this refuses.
            continue


@pytest.mark.parametrize("slug", SLUGS)
def test_every_row_follows_a_second_source(slug):
    allowed = {id for paper, id in ALLOWED if paper == slug}
    found = refused(Audit(slug))
    assert {id: why for id, why in found.items() if id not in allowed} == {}
    assert allowed == found.keys(), "a row that moves needs no exception"


def test_what_is_typed_in_is_refused(tmp_path):
    (tmp_path / RECORDS).write_text("""
    constant: {check: constant, what: x, printed: "{said[runs]}"}
    differing: {check: constant, what: x, printed: "{said[loss]}"}
    itself: {check: stated, what: x, arguments: {quantity: runs}, printed: "{said[runs]}"}
    typed: {check: stated, what: x, arguments: {quantity: runs}, printed: 120}
    name: {check: stated, what: x, arguments: {quantity: model}, printed: T5-base-2 (section 3)}
    good: {check: stated, what: x, arguments: {quantity: runs}, printed: "{said[again]}"}
    missing: {check: constant, what: x, printed: 120, missing: the data}
    """)
    (tmp_path / "statements.tsv").write_text(
        "quantity\tvalue\tsource\nruns\t120\tp. 1\nagain\t120\tp. 2\nloss\t0.5\tp. 3\nmodel\tT5-base-2\tp. 4\n"
    )
    declared = {_STATEMENTS: PublishedTable(("quantity",), ("value",))}
    given = Given([*tmp_path.iterdir()], ROOT / "config/models.yaml", declared)
    parts = list(read_records(tmp_path / RECORDS))
    checks = {"constant": lambda given: 120}
    toy = SimpleNamespace(
        given=given, declared=declared, parts=parts, at_once=False,
        rows=lambda given, part: {row.id: row for row in audit_records(given, checks, part)},
    )  # fmt: skip
    assert refused(toy) == {
        "constant": ["follows no source"],
        "differing": ["follows no source"],
        "itself": ["cannot fall"],
        "typed": ["prints what is in no table"],
    }
