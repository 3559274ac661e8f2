"""Checks of DEPTH that follow from its printed tables: averages, tokens per example, ratios, grid, class counts."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.depth.names import DISCOEVAL, DISCOURSE_COHERENCE, SENTENCE_POSITION
from reprlab.reporting.audit import AuditRow, check, decimals, judge, mean, rounded

# Frames whose cells are all text; the type stubs of pandas have no word for them.
Frame = Any
Row = Any
Tables = dict[str, Frame]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CONTEXT = 512
_LAST = {
    "T5-Base": ("public", "t5-base"),
    "T5-FS": ("fs", "t5"),
    "T5-CPT": ("cpt", "t5"),
    "DEPTH-FS": ("fs", "depth"),
    "DEPTH-CPT": ("cpt", "depth"),
}


def table_checks(tables: Tables, counts: Frame) -> list[AuditRow]:
    """Checks 5.1, 5.2, 5.11 and 5.12."""
    return [
        *_table1_means(tables),
        *_tokens_per_example(tables["table2_scale"]),
        *_token_ratios(tables),
        *_grid(tables),
        *_constant_predictors(tables["discoeval"], counts),
    ]


def _numbered(prefix: str, rows: Iterator[tuple]) -> Iterator[AuditRow]:
    for letter, (what, printed, recomputed, agrees, note) in zip(_LETTERS, rows, strict=False):
        yield judge(f"{prefix}{letter}", what, printed, recomputed, agrees, note)


def _table1_means(tables: Tables) -> Iterator[AuditRow]:
    def rows() -> Iterator[tuple]:
        table1 = tables["table1"].set_index("model")
        for name, key in _LAST.items():
            last = _last_checkpoint(tables["discoeval"], *key)
            for column, tasks in (("sp", SENTENCE_POSITION), ("dc", DISCOURSE_COHERENCE)):
                exact = mean(last[task] for task in tasks)
                printed = table1.loc[name, column]
                again = rounded(exact, decimals(printed))
                note = f"exact {rounded(exact, 4).normalize():f}, halves rounded up"
                if Decimal(printed) != again and Decimal(printed) == _cut(exact, decimals(printed)):
                    note += "; the printed value is cut off, not rounded"
                what = f"Table 1, {name}, mean {column.upper()} at the last checkpoint of Tables 7 and 8"
                yield what, printed, again, Decimal(printed) == again, note

    yield from _numbered("5.1", rows())


def _last_checkpoint(discoeval: Frame, init: str, model: str) -> Row:
    rows = discoeval[(discoeval["init"] == init) & (discoeval["model"] == model)]
    return rows.loc[rows["step"].astype(int).idxmax()]


def _cut(value: Decimal, places: int) -> Decimal:
    from decimal import ROUND_DOWN

    return value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_DOWN)


def _per_example(row: Row) -> Decimal:
    return Decimal(row["tokens"]) / Decimal(row["steps"]) / Decimal(row["batch"])


def _tokens_per_example(scale: Frame) -> Iterator[AuditRow]:
    def rows() -> Iterator[tuple]:
        for _, row in scale[scale["tokens"] != ""].iterrows():
            value = _per_example(row)
            note = "tokens / (steps x batch)"
            if value > _CONTEXT:
                note += "; above the context length, so the printed tokens do not come from this product"
            what = f"Table 2, {row['model']}, tokens per example"
            yield what, f"at most {_CONTEXT} (context length)", rounded(value, 1), value <= _CONTEXT, note

    yield from _numbered("5.2", rows())


def _token_ratios(tables: Tables) -> Iterator[AuditRow]:
    scale = tables["table2_scale"].set_index("model")
    base = Decimal(scale.loc["T5-Base", "tokens"])
    statements = {
        "T5-CPT": ("67", 2),
        "DEPTH-CPT": ("80", 2),
        "T5-FS": ("20", 1),
        "DEPTH-FS": ("20", 1),
    }

    def rows() -> Iterator[tuple]:
        for name, (printed, digits) in statements.items():
            ratio = base / Decimal(scale.loc[name, "tokens"])
            note = f"'about' read as {digits} significant digit{'s' if digits > 1 else ''}"
            what = f"tokens of T5-Base over tokens of {name}"
            yield what, f"about {printed}", rounded(ratio, 1), _significant(ratio, digits) == Decimal(printed), note
        for name in ("T5-FS", "DEPTH-FS"):
            ratio = _per_example(scale.loc["T5-Base"]) / _per_example(scale.loc[name])
            what = f"tokens per example of T5-Base over those of {name}"
            agrees = _significant(ratio, 1) == 2
            yield what, "about 2", rounded(ratio, 2), agrees, "'about' read as 1 significant digit"

    taken = (tables["table2_scale"]["tokens"] != "").sum()
    for row, letter in zip(_numbered("5.2", rows()), _LETTERS[taken:], strict=False):
        yield AuditRow(f"5.2{letter}", row.what, row.printed, row.recomputed, row.verdict, row.note)


def _significant(value: Decimal, digits: int) -> Decimal:
    return rounded(value.scaleb(-value.adjusted()), digits - 1).scaleb(value.adjusted())


def _grid(tables: Tables) -> Iterator[AuditRow]:
    grids = {name: tables[name][tables[name]["init"] != "public"] for name in ("glue", "discoeval", "ni")}
    checkpoints = {name: len(frame.drop_duplicates(["init", "model", "step"])) for name, frame in grids.items()}
    runs = {name: 3 * count for name, count in checkpoints.items()}
    baseline = 3
    yield judge(
        "5.11a",
        "fine-tuning runs per benchmark: 3 learning rates x 2 models x (10 + 8) checkpoints",
        "about 120 (footnote 8)",
        ", ".join(sorted({str(count) for count in runs.values()})),
        all(_significant(Decimal(count + baseline), 1) == Decimal(100) for count in runs.values()),
        f"counted from the rows of Tables 5 to 10; {max(runs.values()) + baseline} with the baseline's own sweep; "
        "'about' read as 1 significant digit",
    )
    columns = sum(len([c for c in frame if c not in _KEYS]) for frame in grids.values())
    yield check("5.11b", "benchmarks", 10, columns, "value columns of Tables 5, 7 and 9, MNLI counted twice")


_KEYS = {"init", "model", "step", "split", "source"}


def _constant_predictors(discoeval: Frame, counts: Frame) -> Iterator[AuditRow]:
    known = {"sp_arxiv": "20.25", "sp_wiki": "20.9", "sp_rocstory": "20.45", "dc_chat": "50.0", "dc_wiki": "50.0"}

    def rows() -> Iterator[tuple]:
        from_scratch = discoeval[(discoeval["init"] == "fs") & (discoeval["model"] == "t5")]
        for task in DISCOEVAL:
            labels = counts.loc[counts["task"] == task, "count"]
            best = Decimal(100 * int(labels.max())) / Decimal(int(labels.sum()))
            close = [row["step"] for _, row in from_scratch.iterrows() if abs(Decimal(row[task]) - best) < 1]
            note = f"largest class {labels.max()} of {labels.sum()}; known answer, not printed"
            if close:
                note += f"; T5-FS is within one point of it at steps {', '.join(close)}"
            yield (
                f"best constant predictor on {task}, validation",
                known[task],
                best,
                Decimal(known[task]) == best,
                note,
            )

    yield from _numbered("5.12", rows())
