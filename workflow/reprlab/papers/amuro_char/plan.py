"""Plan of amuro-char: its jobs, which scores feed the results, and cells that stay empty."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprlab.baselines.completions import ANSWERS
from reprlab.config.load import LoadedConfig
from reprlab.papers.amuro_char.names import (
    BASE,
    FIGURE_7,
    NEVER_LEARNED,
    PREDICTION_ROWS,
    WAYS,
    Pair,
    mrc_pairs,
    pairs_of,
    table6_pairs,
)
from reprlab.papers.amuro_char.plan_runs import Scored, add_runs
from reprlab.papers.amuro_char.results import RESULTS
from reprlab.papers.amuro_char.schema import AmuroCharSettings
from reprlab.planning import paths
from reprlab.planning.cost_jobs import add_cost
from reprlab.planning.plan import Job, Plan
from reprlab.planning.result_jobs import add_results as add_records
from reprlab.reporting.hours import HoursSettings
from reprlab.results.sources import Baseline, Missing, Source, rivals

SLUG = "amuro-char"
# What a job does, as gpu_hours.tsv has it, by its stage.
_ACTIVITIES = {"finetune_completions": "training", "score_completions": "evaluation"}
# Columns of scores that tell them apart or say more of them; the planner knows the model and the training set.
_COLUMNS = {name: name for name in RESULTS.factors if name not in ("family", "train", "batch", "way")}
_ON = ["ckpt", "eval", "fmt", "shots", "method"]


def add_jobs(plan: Plan, config: LoadedConfig) -> None:
    """Plan all of the paper at the config's scale."""
    paper = config.papers[SLUG]
    add_results(plan, config, paper, add_runs(plan, config, paper))
    add_cost(plan, config, SLUG)


def add_results(plan: Plan, config: LoadedConfig, paper: AmuroCharSettings, scored: Scored) -> None:
    """Plan the frame of results, what is made of it, and the hours."""
    moved = [(*scored.files[path], ckpt) for path, (_, ckpt) in scored.ways.items()]
    options = {
        "shots": paper.prompts.shots,
        "groups": make_groups(paper, scored),
        "unlabelled": [name for name, one in paper.evaluations.items() if one.unlabelled_upstream],
        "golds_read_as_no": paper.prediction.unlabelled_gold_as_no,
        # What the neighbours' rows are of.
        "ladder": moved[0][0] if moved else "",
        "last": moved[0][-1] if moved else "",
        "moved": list(dict.fromkeys(train for _, train, *_ in moved)),
    }
    entries = list(_entries(config.scale, paper, scored))
    add_records(plan, SLUG, RESULTS, entries, root=config.root, scale=config.scale, options=options)
    jobs: dict[str, dict[str, list[str]]] = {}
    for stage, key in scored.jobs:
        found = jobs.setdefault(key.split("/")[1], {}).setdefault(_ACTIVITIES[stage], [])
        found.append(f"{stage}/{key.replace('/', '.')}")
    hours = HoursSettings(scale=config.scale, device=config.runtime.device, jobs=jobs, published=paper.published_hours)
    summed = Job({"inputs": sorted(scored.files.keys() - scored.ways.keys())}, {"settings": hours})
    plan.add_targets(SLUG, [plan.add("sum_hours", SLUG, summed)["out"]])


def _entries(scale: str, paper: AmuroCharSettings, scored: Scored) -> Iterator[Source | Missing]:
    for path, (family, train, group) in scored.files.items():
        factors: Any = {"family": family, "train": train}
        factors |= {"way": scored.ways[path][0]} if path in scored.ways else {}
        if train == BASE:
            yield Source(
                path=Path(path), factors=factors, keys=_COLUMNS, unjudged="not fine-tuned: others are judged against it"
            )
            continue
        evals = scored.evals.get(path, list(scored.sets))
        for kind in dict.fromkeys(paper.evaluations[name].kind for name in evals):
            own: Any = {"eval": [name for name in evals if paper.evaluations[name].kind == kind]}
            beside = rivals(ANSWERS[kind], scored.baselines, on=["eval"])
            if kind != "generation":
                # What one answer can get at best on these very questions is harder than the commonest of training.
                beside["baselines"] += [Baseline(name="best constant", path=Path(path), column="majority", on=_ON)]
            else:
                base: Any = paths.output("score_completions", "out", f"{family}/{BASE}/{group}")
                where: Any = {"kind": kind}
                beside["baselines"] += [Baseline(name="not fine-tuned", path=base, where=where, on=_ON)]
            yield Source(path=Path(path), factors=factors, keys=_COLUMNS, where=own, **beside)
    for family, path in scored.losses.items():
        yield Source(
            path=Path(path),
            factors={"family": family},
            keys={"step": "step", "batch": "batch"},
            wide=["loss_sum", "count"],
        )
    if not scored.losses:
        reason = "the checkpoints are published ones: no held-out loss is measured"
        yield Missing(factors={"metric": "loss_sum"}, reason=reason)
    for way in WAYS if not scored.ways else ():
        reason = f"no ladder is fine-tuned at checkpoint {paper.neighbours.re_adapt.start} and at its last one"
        yield Missing(factors={"way": way}, reason=reason)
    for name, one in paper.evaluations.items():
        if name not in scored.sets:
            metric = "rougeL" if one.kind == "generation" else "accuracy"
            yield Missing(factors={"eval": name, "metric": metric}, reason=f"no data at scale {scale}")


def make_groups(paper: AmuroCharSettings, scored: Scored) -> dict[str, Any]:
    """The pairs of the paper's groups that have data; Table 6 names those that are missing.

    in_domain, out_of_domain (by task), cross_from_class, cross_from_generation: Figures 10 to 13; mrc (by direction):
    section 4.3; instruction: Figure 9; learned_in_pretrain (with the repetition of the original), learned_in_finetune:
    Table 6; improving, flat: evaluation sets of Figure 6; prediction_rows: Table 3; examples: Figure 7.
    """

    def known(pairs: list[Pair]) -> list[Pair]:
        return [pair for pair in pairs if pair.eval in scored.sets and pair.train in scored.trainings]

    own = {name: training for name, training in paper.trainings.items() if name in scored.trainings}
    single = {name: one for name, one in own.items() if one.form == "completion" and not one.mixture}
    kinds = {name: evaluation.kind for name, evaluation in paper.evaluations.items()}
    crossed: dict[bool, list[Pair]] = {True: [], False: []}
    for name, one in single.items():
        others = known([Pair(eval, name) for eval in paper.grid.cross.evaluations])
        others = [pair for pair in others if pair.eval not in (*one.in_domain, *one.out_of_domain)]
        labelled = {kinds[eval] for eval in one.in_domain} == {"classification"}
        crossed[labelled] += [pair for pair in others if labelled or kinds[pair.eval] == "classification"]
    table6 = table6_pairs(paper.groups)
    trained_for = {eval: name for name, one in single.items() for eval in (*one.in_domain, *one.out_of_domain)}
    labels = {pair.eval: label for label, pair in PREDICTION_ROWS.items()}
    return {
        "in_domain": known([Pair(eval, name) for name, one in single.items() for eval in one.in_domain]),
        "out_of_domain": {task: known(pairs_of(pairs)) for task, pairs in paper.groups.ood.items()},
        "cross_from_class": crossed[True],
        "cross_from_generation": crossed[False],
        "mrc": {direction: known(pairs) for direction, pairs in mrc_pairs(paper.groups).items()},
        "instruction": known(
            [Pair(eval, name) for name, one in own.items() if name not in single for eval in one.in_domain]
        ),
        **table6,
        "improving": list(dict.fromkeys(pair.eval for pair in table6["learned_in_pretrain"])),
        "flat": list(NEVER_LEARNED),
        "prediction_rows": {
            labels.get(eval, eval): Pair(eval, trained_for[eval])
            for eval in paper.grid.methods.evaluations
            if eval in trained_for
        },
        "examples": list(FIGURE_7),
    }
