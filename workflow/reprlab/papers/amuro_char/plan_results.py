"""Result files of amuro-char: which scores feed which table, figure and claim."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from reprlab.papers import paths
from reprlab.papers.amuro_char.figures_names import FIGURES
from reprlab.papers.amuro_char.layouts import AggregateLayout, ClaimsLayout, Groups, HoursLayout, PerfLayout
from reprlab.papers.amuro_char.names import (
    ACTIVITIES,
    CLASS_TO_GEN,
    FIGURE_7,
    GEN_TO_CLASS,
    NEVER_LEARNED,
    PREDICTION_ROWS,
    Pair,
)
from reprlab.papers.amuro_char.plan_runs import Scored
from reprlab.papers.plan import Job, Plan
from reprlab.papers.published_jobs import audit_job, published_files
from reprlab.reporting.layouts import Statistics, paths_of

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.amuro_char import AmuroCharSettings

SLUG = "amuro-char"
_MODULE = "papers.amuro_char"
AGGREGATED = (
    "table3_prediction_method",
    "table6_perf_diff",
    "mrc",
    "ood_change",
    "unlabelled_gold",
    "format",
    "fig6_fewshot_base",
    "curves",
)
COMPARED = ("table3_prediction_method", "table6_perf_diff", "mrc", "gpu_hours")


def add_results(plan: Plan, config: "LoadedConfig", paper: "AmuroCharSettings", scored: Scored) -> None:
    """Plan tables, comparison, audit, claims and figures."""
    scale: Any = config.scale
    perf = PerfLayout(scale=scale, families=list(scored.families), evals=list(paper.evaluations))
    _add_table(plan, "perf", perf, sorted(scored.paths))
    aggregate = AggregateLayout(
        scale=scale,
        perf=Path(_result("perf")),
        groups=make_groups(paper, scored),
        shots=paper.prompts.shots,
        paraphrase=[name for name, one in paper.evaluations.items() if one.unlabelled_upstream and name in scored.sets],
        golds_read_as_no=paper.prediction.unlabelled_gold_as_no,
        statistics=Statistics(seed=paper.prediction.seed),
    )
    for table in AGGREGATED:
        _add_table(plan, table, aggregate, _inputs(aggregate))
    hours = HoursLayout(scale=scale, jobs=_jobs(scored), device=config.runtime.device)
    # The measurements are there when the scores are.
    _add_table(plan, "gpu_hours", hours, [_result("perf")])
    claims = ClaimsLayout(aggregate=aggregate, pretraining=Path(scored.pretraining) if scored.pretraining else None)
    plan.add(
        "test_claims",
        SLUG,
        Job(inputs={"inputs": _inputs(claims)}, settings={"layout": claims}, plugins=(f"{_MODULE}.claims",)),
    )
    plan.add("audit_paper", SLUG, audit_job(config.root, SLUG, f"{_MODULE}.audit"))
    plan.add(
        "compare_published",
        SLUG,
        Job(
            inputs={"tables": [_result(table) for table in COMPARED]},
            settings={"scale": config.scale},
            plugins=(f"{_MODULE}.comparison",),
            files={"published": published_files(config.root, SLUG)},
        ),
    )
    for figure, table in FIGURES.items():
        plan.add(
            "plot_figure",
            f"{SLUG}/{figure}",
            Job(
                inputs={"tables": [_result(table)]},
                settings={"scale": config.scale},
                plugins=(f"{_MODULE}.figures",),
                files={"published": published_files(config.root, SLUG)},
            ),
        )
    plan.add_targets(SLUG, [_result(table) for table in ("perf", *AGGREGATED, "gpu_hours")])
    plan.add_targets(SLUG, [_result(name) for name in ("comparison", "audit", "claims")])
    plan.add_targets(SLUG, [paths.result(SLUG, f"{figure}.png") for figure in FIGURES])


def _add_table(plan: Plan, table: str, layout: BaseModel, inputs: list[str]) -> None:
    job = Job(inputs={"inputs": inputs}, settings={"layout": layout}, plugins=(f"{_MODULE}.tables",))
    plan.add("tabulate_paper", f"{SLUG}/{table}", job)


def _result(table: str) -> str:
    return paths.result(SLUG, f"{table}.tsv")


def _inputs(layout: BaseModel) -> list[str]:
    return sorted({str(path) for path in paths_of(layout)})


def make_groups(paper: "AmuroCharSettings", scored: Scored) -> Groups:
    """The pairs of the paper's groups that have data; tables name those that are missing."""
    own = {name: training for name, training in paper.trainings.items() if name in scored.trainings}
    single = {
        name: training for name, training in own.items() if training.form == "completion" and not training.mixture
    }
    kinds = {name: evaluation.kind for name, evaluation in paper.evaluations.items()}
    in_domain = [Pair(eval, name) for name, training in single.items() for eval in training.in_domain]
    from_class, from_generation = [], []
    for name, training in single.items():
        known = {*training.in_domain, *training.out_of_domain}
        others = [
            Pair(eval, name) for eval in paper.grid.cross.evaluations if eval in scored.sets and eval not in known
        ]
        if {kinds[eval] for eval in training.in_domain} == {"classification"}:
            from_class += others
        else:
            from_generation += [pair for pair in others if kinds[pair.eval] == "classification"]
    table6, mrc = paper.groups.table6, paper.groups.mrc
    learned = [_pair(text) for text in table6["learned_in_pretrain"]]
    # The repetition stands first, as in the released list.
    repeated = [pair for name in paper.groups.counted_twice for pair in learned if pair.eval == name]
    trained_for = {eval: name for name, one in single.items() for eval in (*one.in_domain, *one.out_of_domain)}
    labels = {pair.eval: label for label, pair in PREDICTION_ROWS.items()}
    return Groups(
        in_domain=_with_data(in_domain, scored),
        out_of_domain={
            task: _with_data([_pair(text) for text in pairs], scored) for task, pairs in paper.groups.ood.items()
        },
        mrc={
            CLASS_TO_GEN: _with_data([_pair(text) for text in mrc["class_to_generation"]], scored),
            GEN_TO_CLASS: _with_data([_pair(text) for text in mrc["generation_to_class"]], scored),
        },
        cross_from_class=from_class,
        cross_from_generation=from_generation,
        instruction=_with_data(
            [Pair(eval, name) for name, one in own.items() if name not in single for eval in one.in_domain], scored
        ),
        learned_in_pretrain=[*repeated, *learned],
        learned_in_finetune=[_pair(text) for text in table6["learned_in_finetune"]],
        improving=list(dict.fromkeys(pair.eval for pair in learned)),
        flat=list(NEVER_LEARNED),
        prediction_rows={
            labels.get(eval, eval): Pair(eval, trained_for[eval])
            for eval in paper.grid.methods.evaluations
            if eval in trained_for
        },
        examples=list(FIGURE_7),
    )


def _pair(text: str) -> Pair:
    eval, _, train = text.partition("<-")
    return Pair(eval, train)


def _with_data(pairs: list[Pair], scored: Scored) -> list[Pair]:
    return [pair for pair in pairs if pair.eval in scored.sets and pair.train in scored.trainings]


def _jobs(scored: Scored) -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for job in scored.jobs:
        activity = ACTIVITIES.get(job.stage, job.stage)
        found.setdefault(job.train, {}).setdefault(activity, []).append(f"{job.stage}/{job.key}.tsv")
    return found
