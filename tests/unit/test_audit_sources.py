"""Every row of an audit checks something: its recomputed side follows a second source, and its verdict can fall.

The printed tables, the registry of models and the published settings are changed in memory, a few times over, and the
audit is run on what comes out. A row is refused

- whose recomputed side stays as it is whatever the sources say: a constant that somebody typed in, or a known answer of
  this workflow, which is a test;
- that agrees whatever they say: both of its sides are one cell;
- that prints a number which stands in no printed table: what the paper prints has its place there, and its source.
"""

import copy
import inspect
import random
import re
from itertools import product
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from reprlab.config.papers import PAPERS
from reprlab.plugins import load_plugin
from reprlab.reporting.audit import AGREES, NOT_CHECKABLE
from reprlab.reporting.audit_given import Given
from reprlab.reporting.audit_records import audit_records, read_records

ROOT = Path(__file__).parents[2]
SOURCES = ("printed", "deeper", "printed", "wider", "fewer", "shuffled", "printed", "emptied", "keyed", "settings",
           "fewer settings", "fewer", "shuffled", "emptied", "fewer", "emptied", "fewer")  # fmt: skip
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# A number by itself, neither a part of a name nor a place in the paper.
_ALONE = re.compile(r"(?<![\w.])(?<!\w-)\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d)")
_PLACE = re.compile(r"\((?:section|footnote|appendix|Table)[^)]*\)")
_LAYERS = ("num_hidden_layers", "num_layers", "num_decoder_layers", "encoder_layers", "decoder_layers")
_WIDTHS = ("hidden_size", "d_model", "word_embed_proj_dim")
# Rows that no change of a source moves, and why they stay.
ALLOWED = {
    ("depth", "5.9"): "what chance gives is a formula; the printed range that it is compared with moves the verdict",
    ("prompt-tuning-encoders", "5.1.share.1"): "all of a model is 100 % of it, whatever its size",
    ("vocab-memory", "5.2b"): "no cell fits, and none would by chance; 5.2c is the same check with the models that do",
}


def moved(text, draw):
    """The text with other numbers of as many decimals."""

    def other(match):
        places = len(match[0].partition(".")[2])
        step = Decimal(1).scaleb(-places)
        value = Decimal(match[0])
        new = (value * Decimal(str(draw.uniform(0.4, 2.0)))).quantize(step)
        return str(new if new != value else value + step)

    return _NUMBER.sub(other, text)


def changed(given, declared, source, draw):
    """What is given, with one of its sources changed; `declared` are the tables that may change."""
    tables, every = {name: table.copy() for name, table in given.tables.items()}, given.declared
    new = copy.copy(given)
    if source in ("printed", "shuffled"):
        for name, table in declared.items():
            for column in table.values:
                cells = tables[name][column].tolist()
                if source == "printed":
                    cells = [moved(cell, draw) for cell in cells]
                elif name != "statements":
                    draw.shuffle(cells)
                tables[name][column] = cells
    elif source == "fewer":
        tables = {name: table.drop(index=draw.randrange(len(table))).reset_index(drop=True)
                  if name in declared and name != "statements" else table for name, table in tables.items()}  # fmt: skip
    elif source == "emptied":
        for name, table in declared.items():
            if name != "statements":
                tables[name][[*table.values[draw.randrange(len(table.values)) :]]] = ""
    elif source == "keyed":
        for name, table in declared.items():
            first = tables[name][table.keys[0]].tolist()
            if len(table.keys) > 1:
                draw.shuffle(first)
                tables[name][table.keys[0]] = first
    elif source in ("deeper", "wider"):
        new.registry = {name: larger(entry, source) for name, entry in given.registry.items()}
    elif given.settings is not None:
        new.settings = other_settings(given.settings, draw, fewer=source != "settings")
    new.take(tables, every)
    return new


def larger(entry, source):
    config = dict(entry.config)
    if source == "wider":
        config.update({name: 2 * config[name] for name in _WIDTHS if isinstance(config.get(name), int)})
    else:
        config.update({name: config[name] + 1 for name in _LAYERS if name in config})
        if "vocab_size" in config:
            config["vocab_size"] += 64
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


class Audit:
    def __init__(self, slug):
        self.module = load_plugin("papers", f"{slug}.audit")
        folder = ROOT / "resources/published" / slug
        self.published = [*sorted(folder.iterdir()), ROOT / f"config/papers/{slug}.yaml"]
        settings = self.module.SETTINGS(self.published, slug) if hasattr(self.module, "SETTINGS") else None
        self.given = Given(self.published, ROOT / "config/models.yaml", self.module.TABLES, settings)
        # Rows that are made at once cannot be told apart where one of them refuses what no paper would print.
        tables = self.module.TABLES
        self.together = [{name: tables[name]} for name in tables] if hasattr(self.module, "rows") else [tables]
        self.records = {} if hasattr(self.module, "rows") else read_records(folder / "audit.yaml")

    def rows(self, given, only=""):
        if not self.records:
            return {row.id: row for row in self.module.rows(given)}
        checks = getattr(self.module, "CHECKS", vars(self.module))
        return {row.id: row for row in audit_records(given, checks, only)}


def refused(audit):
    """Rows that no change of a source moves, by what is wrong."""
    found = {}
    for only in audit.records or [""]:
        if only and not audit.records[only].check:
            continue
        plain = {id: row for id, row in audit.rows(audit.given, only).items() if row.verdict != NOT_CHECKABLE}
        follows, falls, prints = set(), {id for id, row in plain.items() if row.verdict != AGREES}, set()
        prints |= {id for id, row in plain.items() if set(_ALONE.findall(_PLACE.sub("", row.printed))) <= {"0"}}
        errors = []
        for place, (source, tables) in enumerate(product(SOURCES, audit.together)):
            if plain.keys() == follows & falls & prints:
                break
            if "settings" in source and audit.given.settings is None:
                continue
            try:
                rows = audit.rows(changed(audit.given, tables, source, random.Random(place)), only)
            except Exception as error:  # noqa: BLE001 (a check may refuse what no paper would print)
                errors.append(f"{source}: {type(error).__name__}: {error}")
                continue
            for id, row in plain.items():
                if id in rows:
                    follows |= {id} if rows[id].recomputed != row.recomputed else set()
                    falls |= {id} if rows[id].verdict != AGREES else set()
                    prints |= {id} if rows[id].printed != row.printed else set()
        for id in plain:
            wrong = [word for word, good in (("follows nothing", follows), ("cannot fall", falls), ("prints what is in no table", prints)) if id not in good]
            if wrong:
                found[id] = "; ".join(wrong) + (f" ({errors})" if errors else "")
    return found


@pytest.mark.parametrize("slug", PAPERS)
def test_every_row_follows_a_second_source(slug):
    found = refused(Audit(slug))
    allowed = {id for paper, id in ALLOWED if paper == slug}
    assert {id: why for id, why in found.items() if id not in allowed} == {}
    assert allowed <= found.keys()
