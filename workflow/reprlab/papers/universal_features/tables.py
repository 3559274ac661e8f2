"""Tables of universal features that are not a listing or pivot of the frame."""

from __future__ import annotations

from typing import Any

from reprlab.papers.universal_features.claims import best_point, merges_better
from reprlab.results.frame import Frame, Rows

# Options of the frame: `threshold`, from which a feature persists; `patterns`, corpus and tokens of each case study.
_EDGE = ["seed", "positions", "match", "threshold", "parent", "child"]
_AXIS = "t: 0 = Lua, 1 = stories"
# Controls in the order of the table, by the column that they fill.
CONTROLS = {
    "again": "other autoencoder",
    "other_seed": "other seed across",
    "floor": "unrelated model",
    "neurons": "neurons",
    "shuffled": "shuffled",
}


_OF_TWIN = {
    "lineage": "random dictionary",
    "other autoencoder": "other random dictionary",
    "other seed across": "other random dictionary across",
    "unrelated model": "random dictionary of an unrelated model",
}


def losses(frame: Frame) -> Rows:
    """Loss in nats and accuracy in percent of each model on each corpus, over its batches."""
    table = _rates(frame, ["seed", "model", "corpus"])
    return table.assign(scale=frame.scale)


def sweep(frame: Frame) -> Rows:
    """The same of each point of the sweep, beside the accuracy of the base model on that corpus."""
    points = _rates(frame.narrowed({"model": "sweep"}), ["seed", "t", "corpus"])
    base = _rates(frame.narrowed({"model": "base"}), ["seed", "corpus"])[["seed", "corpus", "accuracy"]]
    base = base.rename(columns={"accuracy": "baseline_accuracy"})
    table = points.merge(base, on=["seed", "corpus"], how="left").assign(axis=_AXIS, scale=frame.scale)
    return table[["t", "corpus", "loss", "accuracy", "baseline_accuracy", "axis", "seed", "n", "data", "scale"]]


def ways(frame: Frame) -> Rows:
    """Each way to merge at the point that half of the batches chose, its losses on the other half, and their mean less
    that of slerp, by seed."""
    import pandas

    rows = frame.select()
    found = []
    for seed in rows["seed"].dropna().unique():
        own = frame.narrowed({"seed": int(seed)})
        for name in dict.fromkeys(rows["model"]):
            gap, point = merges_better(str(name))(own), best_point(own, str(name))
            if point is None or isinstance(gap, str):
                continue
            losses = {f"{corpus}_loss": of["loss_sum"].sum() / of["count"].sum() for corpus, of in point[1].items()}
            about = {"way": "slerp" if name == "sweep" else name, "seed": int(seed), "at": point[0], **losses}
            found.append({**about, "less_slerp": gap.value, "low": gap.low, "high": gap.high, "n": gap.n})
    data = " + ".join(dict.fromkeys(rows["data"]))
    return pandas.DataFrame(found).assign(data=data, scale=frame.scale)


def _rates(frame: Frame, keys: list[str]) -> Rows:
    rows = frame.select()
    columns = [*keys, "loss", "accuracy", "n", "data"]
    if rows.empty:
        return type(rows)(columns=columns)
    wide = rows.pivot_table("value", [*keys, "data"], "metric", aggfunc="sum", sort=False).reset_index()
    wide = wide.assign(
        loss=wide["loss_sum"] / wide["count"], accuracy=100 * wide["correct"] / wide["count"], n=wide["count"]
    )
    return wide[columns].astype({"n": "int64"})


def flow(frame: Frame) -> Rows:
    """Figure 2: what becomes of the features of each model, with the share of controls and of the twin beside it."""
    lineage = frame.narrowed({"control": "", "dictionary": "trained"})
    wide = _wide(lineage.select(), _EDGE)
    counts = ["parent_alive", "child_alive", "persisting", "disappeared", "matched", "emerged"]
    beside = _beside(frame, wide)
    wide.insert(0, "edge", wide["parent"] + "-" + wide["child"])
    columns = ["edge", *counts, "share_parent", "share_child", "threshold", "match", "positions"]
    return wide[columns].join(beside).assign(seed=wide["seed"], data=wide["data"], scale=frame.scale)


def controls(frame: Frame) -> Rows:
    """Share of persisting features in percent, of every pair: links of the lineage and controls."""
    rows = frame.select(metric="share_parent")
    columns = ["control", "dictionary", "parent", "child", "positions", "match", "threshold", "value", "seed", "data"]
    table = rows[columns].rename(columns={"value": "share_parent"}).reset_index(drop=True)
    table["control"] = table["control"].replace("", "lineage")
    return table.assign(scale=frame.scale)


def persistence(frame: Frame) -> Rows:
    """Share of persisting features against the threshold, of the lineage and its controls, mean over seeds."""
    table = controls(frame)
    table = table[(table["match"] == "many") & (table["positions"] == "all")]
    # A control that stands for a model (its own second autoencoder) is shown beside the links that begin there.
    places = {"base": "base-lua", "lua": "lua-merged", "stories": "stories-merged", "merged": "lua-merged"}
    edges = {"lua": "base-lua", "stories": "base-stories", "merged": "lua-merged"}
    edge = [
        places[parent] if control == "other autoencoder"
        else edges[child.removesuffix("_again")] if control in ("unrelated model", "other seed across")
        else f"{parent}-{child}".replace("_neurons", "")
        for control, parent, child in table[["control", "parent", "child"]].to_numpy()
    ]  # fmt: skip
    # The twin has curves of its own beside those of the same pairs of learnt features.
    drawn = table["control"].map(_OF_TWIN).where(table["dictionary"] == "random", table["control"])
    table = table.assign(edge=edge, control=drawn)
    keys = ["edge", "control", "threshold"]
    found = table.groupby(keys, sort=False)["share_parent"].agg(["mean", "min", "max"]).reset_index()
    found = found.rename(columns={"mean": "share_parent", "min": "low", "max": "high"})
    return found.assign(data=frame.select()["data"].iloc[0] if len(found) else "", scale=frame.scale)


def _beside(frame: Frame, edges: Rows) -> Rows:
    """For each link: shares of controls and of random dictionaries at the same threshold; that of another autoencoder
    is the mean of its models' own."""
    rows = frame.select(metric="share_parent")
    keys = ["seed", "positions", "match", "threshold"]
    known: dict[Any, float] = {
        (
            *key,
            of,
            control,
            parent.removesuffix("_neurons"),
            child.removesuffix("_neurons").removesuffix("_again"),
        ): value
        for *key, of, control, parent, child, value in rows[
            [*keys, "dictionary", "control", "parent", "child", "value"]
        ].to_numpy()
    }

    def share(edge: Any, of: str, name: str) -> float:
        key, (parent, child) = tuple(edge[column] for column in keys), (edge["parent"], edge["child"])
        key, control = (*key, of), CONTROLS.get(name, "")
        if name == "again":
            places = [(*key, control, role, role) for role in (parent, child)]
            own = [known[place] for place in places if place in known]
            return sum(own) / len(own) if own else float("nan")
        return known.get((*key, control, "unrelated" if name == "floor" else parent, child), float("nan"))

    drawn = {"random": "", "random_again": "again", "random_floor": "floor"}
    wanted = {name: ("trained", name) for name in CONTROLS} | {name: ("random", one) for name, one in drawn.items()}
    lines = [{name: share(edge, *about) for name, about in wanted.items()} for edge in edges.to_dict("records")]
    return type(edges)(lines, columns=[*wanted], index=edges.index)


def merged_sources(frame: Frame) -> Rows:
    """Where the features of the merged model come from, and how many of the base are universal."""
    names = ["seed", "positions", "match", "threshold"]
    wide = _wide(frame.select(), names)
    order = ["from_first", "from_second", "from_both", "emerged", "universal", "universal_share"]
    wide = wide.rename(columns={"from_first": "from_lua", "from_second": "from_stories"})
    order = [{"from_first": "from_lua", "from_second": "from_stories"}.get(name, name) for name in order]
    return wide[[*names[1:], *order, "seed", "data"]].assign(scale=frame.scale)


def _wide(rows: Rows, keys: list[str]) -> Rows:
    wide = rows.pivot_table("value", [*keys, "data"], "metric", aggfunc="first", sort=False).reset_index()
    return wide.rename_axis(columns=None)


def observed(frame: Frame) -> Rows:
    """Features of each model on the sample: alive, dead on its own text, or not observed."""
    wide = _wide(frame.select(dictionary="trained"), ["seed", "parent"]).rename(columns={"parent": "model"})
    return wide[["model", "alive", "dead", "unobserved", "seed", "data"]].assign(scale=frame.scale)


def contexts(frame: Frame) -> Rows:
    """Tokens of a case study with the activation of the feature, and the correlation that links it to the lineage."""
    rows = frame.select(part="contexts")
    if rows.empty and not frame.reason(part="contexts"):
        why = "no feature that is sought fires on such tokens more than on others"
        return type(rows)([{"scale": frame.scale, "note": why}])
    links = frame.select(part="cases")
    wide = _wide(links, ["seed", "model", "feature"])
    wide = wide.reindex(columns=["seed", "model", "r", "mass_share", "token_share"])
    table = rows[["case", "seed", "model", "partner", "context", "place", "token", "value", "data"]]
    table = table.rename(columns={"value": "activation"}).merge(wide, on=["seed", "model"], how="left")
    sought = table["case"].map(frame.options["patterns"])
    return table.drop(columns="case").assign(sought=sought, scale=frame.scale)


def interpreted(frame: Frame) -> Rows:
    """Scores of each interpreted feature."""
    keys = ["dictionary", "seed", "feature", "group", "explainer", "explanation"]
    wide = _wide(frame.select(), keys).reindex(columns=[*keys, "data", "score", "score_other", "score_all"])
    order = [
        "feature",
        "group",
        "score",
        "score_other",
        "score_all",
        "explainer",
        "explanation",
        "dictionary",
        "seed",
        "data",
    ]
    return wide[order].assign(scale=frame.scale)


def formatting(frame: Frame) -> Rows:
    """Share of activation on tokens without letter or digit, of features that persist and of those that do not."""
    rows = frame.select()
    keys = ["dictionary", "seed", "parent", "child", "data"]
    wide = rows.pivot_table("value", keys, "group", sort=False).reset_index()
    wide = wide.rename_axis(columns=None).reindex(
        columns=["dictionary", "parent", "child", "persisting", "disappeared", "tokens", "seed", "data"]
    )
    return wide.assign(scale=frame.scale)
