"""Checks of what the text of DEPTH says about its own tables."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reprlab.papers.depth.names import DISCOEVAL, DISCOURSE_COHERENCE, GLUE
from reprlab.reporting.audit import AuditRow, check, judge, not_checkable, rounded

# Frames whose cells are all text; the type stubs of pandas have no word for them.
Frame = Any
Row = Any
Tables = dict[str, Frame]

_SAMPLE = 30


def statement_checks(tables: Tables) -> list[AuditRow]:
    """Checks 8.1 to 8.16."""
    return [
        *_ordering(tables),
        *_hand_annotation(tables["error_types_sp"], tables["error_types_dc"]),
        *_padded_evaluation(tables),
        not_checkable(
            "8.16",
            "FS T5 reaches 1.65 where nanoT5 has 1.95 at step 64,000",
            "1.65 against 1.95",
            "missing: a run of either model on the other's task; the paper masks 0.3 without packing, "
            "nanoT5 masks 0.15 with packing, so the two losses are of different tasks",
        ),
    ]


def _behind(frame: Frame, init: str, columns: tuple[str, ...]) -> list[tuple[str, str]]:
    """Checkpoints and columns where DEPTH is printed below T5."""
    rows = frame[frame["init"] == init].set_index(["model", "step"])
    steps = [step for model, step in rows.index if model == "t5"]
    return [
        (step, column)
        for step in steps
        for column in columns
        if Decimal(rows.loc[("depth", step), column]) < Decimal(rows.loc[("t5", step), column])
    ]


def _listed(cells: list[tuple[str, str]]) -> str:
    return ", ".join(f"{column} at {int(step) // 1000}k" for step, column in cells) or "none"


def _ordering(tables: Tables) -> Iterator[AuditRow]:
    cells = _behind(tables["ni"], "fs", ("rougeL",))
    behind = ", ".join(f"{int(step) // 1000}k" for step, _ in cells)
    yield check("8.1", "Appendix H: steps at which FS DEPTH is behind T5 on NI", "2k, 8k, 16k", behind, "Table 9")
    cells = _behind(tables["glue"], "fs", GLUE)
    yield check("8.2", "Appendix F: FS DEPTH is behind T5 on GLUE", "none", _listed(cells), "Table 5")
    cells = _behind(tables["discoeval"], "fs", DISCOURSE_COHERENCE)
    yield check("8.3", "Section 4.3: FS DEPTH is behind T5 on DC", "none", _listed(cells), "Table 7")
    cells = _behind(tables["discoeval"], "cpt", DISCOEVAL)
    total = len(DISCOEVAL) * len(tables["discoeval"].query("init == 'cpt' and model == 't5'"))
    yield judge(
        "8.4",
        "Appendix G: CPT DEPTH outperforms T5 on DiscoEval",
        "outperforms",
        f"behind in {len(cells)} of {total} cells",
        not cells,
        "Table 8",
    )
    cells = [(step, column) for step, column in _behind(tables["glue"], "cpt", GLUE) if step == "128000"]
    yield check("8.5", "Appendix F: CPT DEPTH at 128k is behind T5 on", "cola at 128k", _listed(cells), "Table 6")
    cells = _behind(tables["ni"], "cpt", ("rougeL",))
    total = len(tables["ni"].query("init == 'cpt' and model == 't5'"))
    yield judge(
        "8.6",
        "Appendix H: CPT DEPTH is behind T5 on NI",
        "behind",
        f"behind at {len(cells)} of {total} checkpoints",
        len(cells) == total,
        "Table 10",
    )
    quoted = tables["glue"].query("init == 'public' and source == 'Table 5'")
    yield check("8.7", "Table 5, caption: quoted rows", 2, len(quoted), "the first rows of Table 5")


def _hand_annotation(positions: Frame, coherence: Frame) -> Iterator[AuditRow]:
    arxiv = positions.query("init == 'fs' and task == 'sp_arxiv'").set_index("model")
    shares = [
        rounded(Decimal(row["reasonable"]) / (1 - Decimal(row["correct"])), 2)
        for row in (arxiv.loc["depth"], arxiv.loc["t5"])
    ]
    yield judge(
        "8.8",
        "Section 4.5: reasonable share of the mistakes, SP-Arxiv FS, DEPTH and T5",
        "23% and 7%",
        f"{shares[0]:.0%} and {shares[1]:.0%}",
        [str(share) for share in shares] == ["0.23", "0.07"],
        "Table 3; the printed shares are of all 30 predictions, not of the mistakes",
    )
    kinds = ["correct", "transition", "pronoun", "reasonable", "punctuation"]
    distinct = len(positions.drop_duplicates(["model", *kinds]))
    yield check(
        "8.9", "Table 3: different rows per model, of 6 settings each", len(positions), distinct, "repeated rows"
    )
    sums: list[Any] = [sum(Decimal(row[kind]) for kind in kinds) for _, row in positions.iterrows()]
    off = sorted({str(total) for total in sums if abs(total - 1) > Decimal("0.025")})
    yield judge(
        "8.10",
        "Table 3: each row sums to 1",
        "1 (up to 0.025 by rounding of five shares)",
        ", ".join(off) or "1",
        not off,
        f"{sum(abs(total - 1) > Decimal('0.025') for total in sums)} of {len(sums)} rows do not",
    )
    yield _thirtieths("8.11", "Table 3", positions, kinds)
    yield _thirtieths("8.12", "Table 4", coherence, ["correct", "poorly_formatted", "reasonable"])
    beyond = [
        f"{row['task']} {row['init']} {row['model']}: {row['poorly_formatted']}"
        f" of at most {1 - Decimal(row['correct'])}"
        for _, row in coherence.iterrows()
        if Decimal(row["poorly_formatted"]) > 1 - Decimal(row["correct"]) + Decimal("0.01")
    ]
    yield judge(
        "8.13",
        "Section 4.5: every poorly formatted prediction is wrong, so their share is at most the share of errors",
        "at most 1 - correct",
        "; ".join(beyond) or "at most 1 - correct",
        not beyond,
        "Table 4; 0.01 allowed for rounding",
    )
    more: dict[str, Any] = {
        task: sum(
            (Decimal(row["correct"]) * (1 if row["init"] == "fs" else -1))
            for _, row in coherence[coherence["task"] == task].iterrows()
        )
        for task in DISCOURSE_COHERENCE
    }
    yield judge(
        "8.14",
        "Appendix E.2: FS models predict more correct outputs than CPT models on DC",
        "FS above CPT",
        ", ".join(f"{task}: {value:+} over both models" for task, value in more.items()),
        all(value > 0 for value in more.values()),
        "Table 4, sum of the two FS shares minus the two CPT shares",
    )


def _thirtieths(id: str, table: str, frame: Frame, kinds: list[str]) -> AuditRow:
    possible = {rounded(Decimal(count) / _SAMPLE, 2) for count in range(_SAMPLE + 1)}
    values = [Decimal(row[kind]) for _, row in frame.iterrows() for kind in kinds]
    others = sorted({str(value) for value in values if rounded(value, 2) not in possible})
    return judge(
        id,
        f"{table}: every share is a count of {_SAMPLE} examples",
        f"thirtieths, two decimals ({len(values)} values)",
        f"not thirtieths: {', '.join(others)}" if others else "all are thirtieths",
        not others,
    )


def _padded_evaluation(tables: Tables) -> Iterator[AuditRow]:
    sizes = {"sst2": ("glue", 872, 1024), "dc_chat": ("discoeval", 1834, 2048), "dc_wiki": ("discoeval", 4000, 4096)}
    for letter, (task, (table, examples, padded)) in zip("abc", sizes.items(), strict=True):
        frame = tables[table].query("init != 'public'")
        values = [Decimal(value) for value in frame[task]]
        true, filled = (_multiples(values, size) for size in (examples, padded))
        yield judge(
            f"8.15{letter}",
            f"{task}: accuracies are counts of the {examples} validation examples",
            f"multiples of 1/{examples}",
            f"{true} of {len(values)}; {filled} of {len(values)} are multiples of 1/{padded}",
            true == len(values),
            "batches filled up with repeated examples would give the second kind",
        )


def _multiples(values: list[Decimal], size: int) -> int:
    possible = {rounded(Decimal(100 * count) / size, 2) for count in range(size + 1)}
    return sum(value in possible for value in values)
