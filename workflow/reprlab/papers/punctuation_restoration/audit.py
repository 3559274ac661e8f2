"""The audit: every check that needs neither training nor data nor network; `audit.yaml` says what the paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.models.build import build_from_config
from reprlab.reporting.audit import Found, found, rounded
from reprlab.reporting.audit_given import Given
from reprlab.results.words import printed_of
from reprlab.structure import restoration, scorers, seq2seq

TABLES = printed_of("punctuation-restoration").declarations()


def batches(given: Given, *, show: str) -> int:
    """5.1: excerpts that are trained on, batches of a pass whose last is dropped, updates of a pass and of all."""
    said = {name: int(given.said[name]) for name in ("excerpts", "held_out", "batch", "accumulation", "passes")}
    excerpts = said["excerpts"] - said["held_out"]
    whole = excerpts // said["batch"]
    updates = whole // said["accumulation"]
    return {"excerpts": excerpts, "batches": whole, "updates": updates, "all": updates * said["passes"]}[show]


def _gains(given: Given) -> list[tuple[dict[str, str], Decimal]]:
    return [(row, Decimal(row["delta"])) for row in given.tables["table1"].to_dict("records") if row["delta"]]


def experiments(given: Given) -> int:
    """5.2: rows of Table 1, one joint and one discriminative experiment."""
    return len(given.tables["table1"]) + 2


def gains(given: Given, *, least: str, below: str = "inf", where: str = "all") -> int:
    """5.2: how many printed gains lie between two bounds, of all experiments or of those on further sets."""
    printed = [(row["train_set"] != row["eval_set"], gain) for row, gain in _gains(given)]
    kept = [gain for further, gain in printed if where != "further" or further]
    if where == "all":
        # Of the joint experiment that on entities, of the discriminative one the mean.
        kept += [Decimal(given.cells["table2"]["ner"]["delta"]), Decimal(given.cells["table3"]["avg"]["delta"])]
    return sum(Decimal(least) <= gain < Decimal(below) for gain in kept)


def improved(given: Given, *, least: str) -> int:
    """5.2: experiments less those whose printed gain is below a bound; the row that is lost gains more (5.2)."""
    return experiments(given) - gains(given, least="-1", below=least)


def tasks(given: Given, *, least: str, of: str) -> int:
    """T10: tasks of Table 1 whose mean gain, or whose largest one, is at least this much."""
    found: dict[str, list[Decimal]] = {}
    for row, gain in _gains(given):
        found.setdefault(row["task"], []).append(gain)
    values = [max(one) if of == "largest" else sum(one, Decimal(0)) / len(one) for one in found.values()]
    return sum(value >= Decimal(least) for value in values)


def relations(given: Given, *, show: str) -> str:
    """T11: what Table 5 calls relations, and how many cells of their precision and recall Table 1 has."""
    if show == "name":
        return next(row["task"] for row in given.tables["table5"].to_dict("records") if row["dataset"] == "TACRED")
    cells = given.cells["table1"]["relations tacred tacred"]
    return str(sum(bool(cells[f"{init}_{name}"]) for init in ("t5", "pr") for name in ("precision", "recall")))


def tuned(given: Given, *, sentences: str, passes: str, by: str) -> int:
    """T1: updates of fine-tuning; upstream drops the sentences of a pass that fill no batch, `ours` go on with them."""
    batch = int(given.said["batch"]) * int(given.said["accumulation"])
    if by == "ours":
        return seq2seq.updates(float(passes), int(sentences), batch)
    return int(sentences) // batch * int(passes)


def further_sets(given: Given) -> int:
    """5.2: rows that test on another set than they train on."""
    return sum(row["train_set"] != row["eval_set"] for row, _ in _gains(given))


def harmonic_means(given: Given) -> Iterator[Found]:
    """5.3: F1 is the harmonic mean of P and R, within what rounding of three numbers leaves."""
    for name, keys in (
        ("table1", ("task", "train_set", "eval_set")),
        ("table2", ("task",)),
        ("table3", ("statistic",)),
        ("table6", ("size",)),
    ):
        for row in given.tables[name].to_dict("records"):
            if row.get("statistic") == "sdev":
                continue
            for prefix in ("t5_", "pr_") if name != "table6" else ("",):
                if row[f"{prefix}precision"]:
                    p, r, f1 = (Decimal(row[prefix + one]) for one in ("precision", "recall", "f1"))
                    yield found(
                        rounded(2 * p * r / (p + r), 4),
                        where=" ".join((name, *(row[key] for key in keys), prefix.strip("_"))),
                        f1=f1,
                    )


def stability(given: Given, *, show: str) -> Decimal:
    """5.4: what restoration takes of the deviation over seeds, in percent, and of the range."""
    cells = given.cells["table3"]
    if show == "sdev":
        return rounded(100 * (1 - Decimal(cells["sdev"]["pr_f1"]) / Decimal(cells["sdev"]["t5_f1"])), 1)
    ranges = [Decimal(cells["max"][f"{one}_f1"]) - Decimal(cells["min"][f"{one}_f1"]) for one in ("t5", "pr")]
    return ranges[0] - ranges[1]


def difference(
    given: Given, *, table: str, row: str, column: str, less: str, less_row: str, less_column: str
) -> Decimal:
    """5.5, C.1, C.2: a printed cell less another one."""
    return Decimal(given.cells[table][row][column]) - Decimal(given.cells[less][less_row][less_column])


def listed_sets(given: Given, *, show: str) -> int:
    """T9: data sets of Table 5, once or as often as they are listed, and its tasks."""
    rows = given.tables["table5"].to_dict("records")
    tasks = {task for row in rows for task in row["task"].split(", ")}
    return {"listed": len(rows), "distinct": len({row["dataset"] for row in rows}), "tasks": len(tasks)}[show]


def encoder_parameters(given: Given, *, model: str) -> int:
    """5.6: a T5's encoder with its embedding."""
    network = _on_meta(given, model)
    return sum(one.numel() for one in network.get_encoder().parameters())


def head_parameters(given: Given, *, model: str, labels: str) -> int:
    """5.6: T5's classification head, as it is trained here."""
    import torch
    from transformers import T5Config

    from reprlab.models.t5_heads import T5Tagger

    config: dict[str, Any] = {**given.entry(model).config}
    with torch.device("meta"):
        tagger = T5Tagger(T5Config(**{**config, "num_labels": int(labels)}))
    return sum(one.numel() for one in tagger.classifier.parameters())


def _on_meta(given: Given, model: str) -> Any:
    import torch

    with torch.device("meta"):
        return build_from_config(given.entry(model))


def pair_of(given: Given, *, text: str) -> str:
    """5.7: the source of a target."""
    pair = restoration.pair(text)
    return pair.source if pair else ""


def restored(given: Given, *, output: str, show: str = "scores", upstream: str = "") -> str:
    """5.8: scores of an output for the specification's example, or whether the excerpt is skipped."""
    counts, skipped = scorers.restoration_counts(["a b c d"], [output], ["A b, c d."], upstream=bool(upstream))
    return str(skipped.sum()) if show == "skipped" else _shown(counts)


def items(given: Given, *, gold: str, output: str, upstream: str = "") -> str:
    """5.9: scores of entities."""
    counts, _ = scorers.item_counts("ner", [gold], [output], upstream=bool(upstream))
    return _shown(counts)


def tags(given: Given, *, gold: str, output: str) -> str:
    """5.10: scores of a sequence of tags."""
    return _shown(scorers.tag_counts([gold], [output])[0])


def _shown(counts: Any) -> str:
    return " ".join(f"{math.floor(value * 10 + 0.5) / 1000:.3f}" for value in scorers.scores(counts.sum(0)).tolist())
