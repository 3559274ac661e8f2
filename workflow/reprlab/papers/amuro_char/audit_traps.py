"""Rows 8.*: where the paper contradicts itself, or its released values and code say something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reprlab.papers.amuro_char.aggregate import changes, mean_ratio, released_frame
from reprlab.papers.amuro_char.names import CLASS_TO_GEN, MAIN, mrc_pairs
from reprlab.reporting.audit import AuditRow, check, judge, not_checkable

if TYPE_CHECKING:
    from reprlab.config.papers.amuro_char import AmuroCharSettings

Frame = Any
Tables = dict[str, Frame]

_UNITS = {"M": 6, "B": 9, "T": 12}
_NOISE = Decimal("0.02")


def trap_checks(tables: Tables, settings: AmuroCharSettings) -> Iterator[AuditRow]:
    """What printed and released numbers and the published settings give; the other rows name what is lacking, since the
    released code was read, not run."""
    printed = tables["table3_prediction_method"].set_index(["dataset", "model"])["tokenprob"]
    yield not_checkable(
        "8.1",
        "Table 3 and Figures 4a, 5: accuracy on STS-B and QQP",
        f"BASE on STS-B {printed.loc[('STS-B', 'BASE')]}",
        "missing: the released predictions. Read in the released code: its test splits have labels of -1 alone, each "
        "of which becomes 'no', so that the score is the share of answers 'no'; 5.4e has the rule, unlabelled_gold.tsv "
        "its effect on labelled data",
    )
    yield not_checkable(
        "8.2",
        "Sections 3.3 and 5: four shots are randomly sampled",
        "random shots",
        "missing: the prompts behind the released scores. Read in the released code: the first rows of the evaluation "
        f"file, which are scored too; here shots_source is {settings.prompts.shots_source}",
    )
    yield not_checkable(
        "8.3",
        "Figure 5: ratio of out-of-domain change",
        "ratio",
        "missing: the released scores out of domain. Read in the released notebook: the cell draws raw differences; "
        "ood_change.tsv has both",
    )
    yield _equation_1(tables, settings)
    released = tables["released_performance"].set_index(["train", "eval"])
    near, main = (released.loc[("paws", "paws"), name] for name in ("738000", MAIN))
    yield judge(
        "8.5",
        "PAWS after fine-tuning on PAWS, checkpoints 738000 and main (20 steps apart)",
        near,
        main,
        abs(Decimal(near) - Decimal(main)) < _NOISE,
        "one seed: the noise of one run is as large as the effects that are read off Table 6",
    )
    said = tables["statements"].set_index("quantity")["value"]
    yield check(
        "8.6",
        "Batch size of Llama3-8B: section 3.2, and Appendix B for both settings",
        said["batch_size_section_3"],
        said["batch_size_appendix_b"],
        f"both are printed; here {settings.families['llama3_8b'].batch_size}",
    )
    yield _sizes(tables["table2_models"])
    scored = {name: "/".join(settings.evaluations[name].splits) for name in ("rte", "tweetqa")}
    yield not_checkable(
        "8.8",
        "Table 1: RTE and TweetQA are test sets",
        "test",
        "missing: the examples behind the released scores. Read in the released code: training splits; here "
        + ", ".join(f"{name} {splits}" for name, splits in scored.items()),
    )
    yield not_checkable(
        "8.9",
        "SciQ questions after fine-tuning on SocialIQa: 0.008 to 0.158 from checkpoint to checkpoint",
        "out-of-domain scores",
        "missing: the outputs; empty and run-on texts would explain it. perf.tsv has their share and length",
    )


def _equation_1(tables: Tables, settings: AmuroCharSettings) -> AuditRow:
    """The sets that equation 1 averages over against those whose mean is the printed one (5.2a)."""
    listed = mrc_pairs(settings.groups)
    averaged = Counter(pair.train for pairs in listed.values() for pair in pairs)
    # Evaluation sets of all four tasks; the training set itself is every evaluation of the same data set.
    sets = {name for train in averaged for name in _evaluations(settings, train)}
    others = {
        train: sum(settings.evaluations[name].dataset != settings.trainings[train].dataset for name in sets)
        for train in averaged
    }
    found = changes(released_frame(tables["released_performance"]), listed[CLASS_TO_GEN])
    mean = mean_ratio(found)
    return judge(
        "8.4",
        "Equation 1: evaluation sets in the mean, by training set",
        _listed(others),
        _listed(averaged),
        others == averaged,
        "printed: all sets of the published settings but the training set; recomputed: the pairs of section 4.3, whose "
        f"{mean.n} ratios {CLASS_TO_GEN} give {100 * mean.mean:.1f} % (5.2a). mrc.tsv has both",
    )


def _evaluations(settings: AmuroCharSettings, train: str) -> list[str]:
    return [*settings.trainings[train].in_domain, *settings.trainings[train].out_of_domain]


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _sizes(models: Frame) -> AuditRow:
    """Appendix A considers models with far more tokens than parameters only."""
    cells = {row.model: (_amounts(row.size_), _amounts(row.tokens)) for row in _rows(models)}
    fewer = {name: (size, tokens) for name, (size, tokens) in cells.items() if min(tokens) <= max(size)}
    exchanged = [name for name, (size, tokens) in fewer.items() if min(size) > max(tokens)]
    return judge(
        "8.7",
        "Table 2: models with more pre-training tokens than parameters",
        f"{len(cells)} of {len(cells)}",
        f"{len(cells) - len(fewer)} of {len(cells)}" + (f"; not {', '.join(fewer)}" if fewer else ""),
        not fewer,
        f"it holds with size and tokens exchanged: {', '.join(exchanged)}" if exchanged else "",
    )


def _rows(models: Frame) -> Any:
    return models.rename(columns={"size": "size_"}).itertuples(index=False)


def _amounts(cell: str) -> list[Decimal]:
    """`70M, 1.4B` as numbers."""
    return [Decimal(part[:-1]).scaleb(_UNITS[part[-1]]) for part in cell.split(", ")]
