"""Tables of domain-adaptive masking that are not a listing or pivot of the frame, and our side of Table 2."""

from __future__ import annotations

import math

from reprlab.papers.domain_adaptive_masking.claims import REPLAY
from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.frame import Frame, Rows
from reprlab.results.table_forms import Pivot
from reprlab.results.words import printed_of

# The frame's options: `printed`, rows of the printed tables and statements by their keys; `curriculum`, the thresholds;
# `tokens_per_update`, blocks of an update times their length.
_BY_MASKING = Pivot(
    "task", "masking", "scale data n steps tokens", "low high above_trivial above_untrained", "pretraining_seed seed"
)
_RUN = ["masking", "masks", "step"]
_THRESHOLDS = ("frequency", "basic", "hops", "general_limit", "domain_least")
# Metrics of single batches: the least and the greatest.
_SINGLE = ("_least", "_most")
# The printed columns that have a counterpart: ours, and the model that it starts from.
_COLUMNS = {"ours": "concept", "bert": "none"}


def annotated(frame: Frame) -> Rows:
    """Entities of all splits of each data set, beside those that Table 1 prints."""
    rows = frame.select().groupby(["task", "data"], sort=False)["value"].sum().reset_index()
    table = rows.rename(columns={"value": "annotations"})[["task", "annotations", "data"]]
    table.insert(2, "printed", _printed(frame, "table1", table["task"], "annotations"))
    return table.assign(scale=frame.scale)


def scores_by_masking(frame: Frame) -> Rows:
    """Table 2: means over seeds, their standard deviation over the seeds of fine-tuning (of means over those of
    pre-training; empty with one seed), and the printed columns."""
    table = _BY_MASKING(frame)
    known = frame.select()
    by_seed = known.groupby(["task", "masking", "seed"], sort=False)["value"].mean()
    spread = by_seed.groupby(["task", "masking"], sort=False).std()
    maskings = [name for name in dict.fromkeys(known["masking"]) if name in table]
    added = {f"sd_{name}": [spread.get((task, name)) for task in table["task"]] for name in maskings}
    columns = printed_of("domain-adaptive-masking").tables["table2"].values
    added |= {f"printed_{name}": _printed(frame, "table2", table["task"], name) for name in columns}
    for name, values in added.items():
        table.insert(table.columns.get_loc("note"), name, values)
    return table


def _printed(frame: Frame, table: str, tasks: Rows, column: str) -> list[float]:
    cells = frame.options["printed"][table]
    return [float(cells[task][column]) if task in cells else float("nan") for task in tasks]


def sizes(frame: Frame) -> Rows:
    """Concepts after every step, with the thresholds: f, n, k, and those of the two filters."""
    rows = frame.select()
    known = frame.options.get("curriculum", {})
    chosen = {name: known.get(name) for name in _THRESHOLDS}
    table = rows[["after"]].assign(concepts=rows["value"], **chosen)
    return table.assign(data=rows["data"], scale=frame.scale).reset_index(drop=True)


def training_losses(frame: Frame) -> Rows:
    """Training loss in nats a masked token at each row of the log, mean over seeds, and the share that was masked."""
    keys = ["masking", "step"]
    wide = frame.select().pivot_table(index=[*keys, "data"], columns="metric", values="value", sort=False)
    wide = wide.reindex(columns=["loss", "masked_share"]).reset_index()
    seeds = frame.select().groupby(keys)["pretraining_seed"].nunique().reset_index(name="seeds")
    table = wide.merge(seeds, on=keys).assign(scale=frame.scale)
    return table[[*keys, "loss", "masked_share", "seeds", "data", "scale"]]


def held_out_losses(frame: Frame) -> Rows:
    """Loss in nats a label and accuracy in percent of each step, over batches and seeds."""
    rows = frame.select()
    wide = rows.pivot_table(index=[*_RUN, "data"], columns="metric", values="value", aggfunc="sum", sort=False)
    wide = wide.reindex(columns=["loss_sum", "count", "correct", "total"]).reset_index()
    found = wide[[*_RUN]].assign(
        loss=wide["loss_sum"] / wide["count"], accuracy=100 * wide["correct"] / wide["total"], labels=wide["count"]
    )
    seeds = rows.groupby(_RUN)["pretraining_seed"].nunique().reset_index(name="seeds")
    return found.assign(data=wide["data"]).merge(seeds, on=_RUN).assign(scale=frame.scale)


def forgetting(frame: Frame) -> Rows:
    """Loss at the last update on general text, concepts and random tokens of the domain, and its change since the model
    before, nats; with replay the share that was asked for, and those of blocks and tokens that were read, percent."""
    rows = frame.select()
    # The masking without replay stands beside each share of it.
    rows = rows[(rows["part"] == "held_out") | (rows["masking"] == REPLAY)].fillna({"replay": 0.0})
    rows = rows.assign(masking=rows["masking"].replace(REPLAY, "concept")).sort_values("replay", kind="stable")
    arms = ["masking", "replay"]
    read = rows.pivot_table(index=arms, columns="metric", values="value", sort=False)
    ends = rows[rows["step"] == rows.groupby(arms)["step"].transform("max")]
    sums = ends.pivot_table(index=[*arms, "masks"], columns="metric", values="value", aggfunc="sum", sort=False)
    sums = sums.reindex(columns=["loss_sum", "count"])
    loss = (sums["loss_sum"] / sums["count"]).unstack("masks", sort=False)
    loss = loss.reindex(columns=["general", "concepts", "tokens"])
    before = loss[loss.index.get_level_values("masking") == "none"].sum(min_count=1)
    shares = read.reindex(columns=["replayed_share", "replayed_tokens_share"])
    seeds = rows.groupby(arms)["pretraining_seed"].nunique().rename("seeds")
    table = loss.join(loss.sub(before).add_suffix("_change")).join(shares).join(seeds).reset_index()
    return table.assign(scale=frame.scale)


def held_out_controls(frame: Frame) -> Rows:
    """Loss and accuracy of the last step as trained and with a refitted output bias, beside word frequencies.

    `accuracy_hidden` is that of the tokens behind a mask: of what is predicted a tenth is left as it is.
    """
    rows, keys = frame.select(), ["masking", "masks", "control"]
    wide = rows.pivot_table(index=[*keys, "data"], columns="metric", values="value", aggfunc="sum", sort=False)
    wide = wide.reindex(columns=["loss_sum", "count", "correct", "total", "hidden_correct", "hidden"]).reset_index()
    found = wide[keys].assign(
        loss=wide["loss_sum"] / wide["count"],
        accuracy=100 * wide["correct"] / wide["total"],
        accuracy_hidden=100 * wide["hidden_correct"] / wide["hidden"],
    )
    seeds = rows.groupby(keys)["pretraining_seed"].nunique().reset_index(name="seeds")
    return found.assign(data=wide["data"]).merge(seeds, on=keys).assign(scale=frame.scale)


def masks(frame: Frame) -> Rows:
    """Concepts in the text, and the share of tokens that each masking masked in training.

    `value` is the mean over rows of the log; `min` and `max` are those of single batches, where the log has them.
    """
    names = ["part", "masking", "counted", "metric"]
    found = frame.select().groupby(names, sort=False, dropna=False)["value"].agg(["mean", "min", "max"]).reset_index()
    single = found["metric"].str.endswith(_SINGLE)
    for end, suffix in zip(("min", "max"), _SINGLE, strict=True):
        of_batches = {(*key, name): value for *key, name, value in found[single][[*names, end]].to_numpy().tolist()}
        found[end] = [
            of_batches.get((*key, f"{name}{suffix}"), value) for *key, name, value in found[[*names, end]].to_numpy()
        ]
    found = found[~single].rename(columns={"mean": "value"}).reset_index(drop=True)
    return found.assign(scale=frame.scale)


def compute(frame: Frame) -> Rows:
    """Updates and tokens of each masking, the mean of its seeds, below what the paper prints of its own run.

    `tokens_per_update` and `tokens` are nominal, blocks times their length, as the paper counts them; a block ends with
    its text, so `real_tokens` are fewer. The ratios are of nominal tokens: these over those of BioBERT-v1.0, and of
    BioBERT-v1.1 over these, as the paper reads its updates and as it was released (spec 5.1, T1).
    """
    import pandas

    rows = frame.select()
    said = {name: float(row["value"]) for name, row in frame.options["printed"]["statements"].items()}
    last = rows[rows["step"] == rows.groupby("masking")["step"].transform("max")]
    found = last.groupby("masking", sort=False)[["step", "tokens"]].mean().reset_index()
    nominal = float(frame.options.get("tokens_per_update", math.nan))
    ours = found[["masking"]].assign(
        updates=found["step"].astype(float), tokens_per_update=nominal, real_tokens=found["tokens"].astype(float)
    )
    paper = {
        "masking": "as published",
        "updates": 1000 * said["ours_updates"],
        "tokens_per_update": said["ours_tokens"],
    }
    table = pandas.concat([pandas.DataFrame([paper]), ours], ignore_index=True) if len(ours) else ours
    tokens = table["updates"] * table["tokens_per_update"]
    other = 1000 * said["biobert_tokens"]
    read = said["v1_1_pubmed_updates"] + said["v1_1_pmc_updates"]
    table = table.assign(
        tokens=tokens,
        real_tokens_per_update=table["real_tokens"] / table["updates"],
        of_biobert_v1_0=tokens / (other * said["v1_0_updates"]),
        biobert_v1_1_times=other * read / tokens,
        biobert_v1_1_released_times=other * said["v1_1_released_updates"] / tokens,
    )
    order = ["masking", "updates", "tokens_per_update", "tokens", "real_tokens_per_update", "real_tokens"]
    return table[[*order, *(name for name in table if name not in order)]].assign(scale=frame.scale)


def named_entities(own: Own, row: Cell, column: str) -> Counterpart:
    """Our F1 beside a cell of Table 2."""
    masking = _COLUMNS.get(column)
    if masking is None:
        return Counterpart("", "quoted by the paper from others; not built here")
    ours = own.rows("table2", task=row["task"])
    if masking not in ours or ours[masking].isna().all():
        return own.missing(task=row["task"], masking=masking)
    cell = ours.iloc[0]
    return Counterpart(f"{cell[masking]:.2f}", about(cell, masking, own.frame.scale))
