"""Tables that are not a selection of the frame: means over categories, the choice of k, our side of printed tables."""

from __future__ import annotations

from typing import Any

from reprlab.reporting.comparison import Counterpart
from reprlab.results.comparison import Cell, Own, about
from reprlab.results.frame import Frame, Rows
from reprlab.results.table_forms import together

CATEGORIES = ("retrieval", "sts", "clustering", "classification")
KEYS = ["backbone", "encoder", "size"]
ABOUT = ["method", "attention", "mntp", "position", "pooling"]
_TOLD = ("data", "above_trivial", "above_untrained")


def category_means(frame: Frame) -> Rows:
    """A row for each encoder: the mean score of each category over data sets, then over seeds, and their mean.

    The share of trained parameters is given with it, in percent of decoder and trained ones together.
    """
    rows = frame.select()
    shares = rows[rows["metric"] == "share"].set_index(KEYS)["value"]
    scores = rows[rows["category"].isin(CATEGORIES)]
    lines = []
    for key, part in scores.groupby(KEYS, sort=False):
        first = part.iloc[0]
        line: dict[str, Any] = dict(zip(KEYS, key, strict=True)) | {name: first[name] for name in ABOUT}
        # Encoders of others were trained whole.
        line["params_percent"] = shares.get(key, 100.0 if first["method"] == "published" else 0.0)
        groups = dict(list(part.groupby("category", sort=False)))
        for name in CATEGORIES:
            line[name] = groups[name].groupby("seed")["value"].mean().mean() if name in groups else float("nan")
        line["average"] = sum(line[name] for name in CATEGORIES) / len(CATEGORIES)
        line |= {"scale": frame.scale, "seeds": part["seed"].nunique(), "n": int(part["n"].sum())}
        trained = part.drop_duplicates("seed")
        line |= {name: int(trained[name].sum()) for name in ("steps", "tokens")}
        for name, group in groups.items():
            line |= {f"{kind}_{name}": together(group[kind]) for kind in _TOLD}
        lines.append(line | {"note": first["note"]})
    columns = [*KEYS, *ABOUT, "params_percent", *CATEGORIES, "average", "scale", "seeds", "n", "steps", "tokens"]
    columns += [*(f"{kind}_{name}" for kind in _TOLD for name in CATEGORIES), "note"]
    return type(rows)(lines, columns=columns)


def beside_prefixes(frame: Frame) -> Rows:
    """Rows as in Table 1 of the decoders that have keys and values in every layer trained, SPT v2 (Table 3)."""
    table = category_means(frame)
    prefixed = table["method"].eq("prefix").groupby(table["backbone"]).transform("any")
    return table[prefixed].reset_index(drop=True)


def per_data_set(frame: Frame) -> Rows:
    """A row for each encoder, a column for each STS set, and their mean (Table 5)."""
    from reprlab.results.table_forms import Pivot

    pivot = Pivot(
        rows=" ".join(KEYS), across="dataset", about="scale n steps tokens", over="seed", beside=" ".join(_TOLD)
    )
    table = pivot(frame)
    names = [name for name in dict.fromkeys(frame.select()["dataset"]) if name in table]
    told = frame.select().drop_duplicates(KEYS).set_index(KEYS)["note"].to_dict()
    rows = zip(table[KEYS].itertuples(index=False, name=None), table["note"], strict=True)
    table["note"] = ["; ".join(filter(None, (told.get(key), reasons))) for key, reasons in rows]
    table.insert(len(KEYS) + len(names), "average", table[names].mean(axis=1, skipna=False) if names else None)
    return table


def by_size(frame: Frame) -> Rows:
    """Mean STS score of each soft prompt by the number of its vectors (Figure 3)."""
    table = category_means(frame)
    table = table[table["method"] == "prompt"]
    told = {f"{kind}_sts": kind for kind in _TOLD}
    kept = [*KEYS, *ABOUT, "sts", "scale", "seeds", "steps", "tokens", *told, "note"]
    return table[kept].rename(columns=told).reset_index(drop=True)


def held_out_means(frame: Frame) -> Rows:
    """The mean held-out correlation of each encoder, by decoder, encoder and size, of its best checkpoints."""
    rows = frame.select(metric="held_out")
    by_seed = rows.groupby([*KEYS, "seed"], sort=False)["value"].max()
    return by_seed.groupby(KEYS, sort=False).mean()


def choice_of_size(frame: Frame) -> Rows:
    """The number of vectors that the held-out pairs choose, and the best one on the reported STS sets (section 5.2)."""
    rows, scores, means = frame.select(), by_size(frame), held_out_means(frame)
    lines = []
    for (backbone, encoder), part in scores.groupby(["backbone", "encoder"], sort=False):
        own = part.set_index("size")["sts"]
        chosen = means.loc[backbone, encoder].idxmax()
        best = own.idxmax()
        line = {"backbone": backbone, "encoder": encoder, "tried": " ".join(map(str, own.index))}
        line |= {"chosen": chosen, "held_out": 100 * means.loc[backbone, encoder, chosen], "sts": own[chosen]}
        lines.append(line | {"best_reported": best, "sts_best_reported": own[best], "scale": frame.scale})
    columns = ["backbone", "encoder", "tried", "chosen", "held_out", "sts", "best_reported", "sts_best_reported"]
    return type(rows)(lines, columns=[*columns, "scale"])


def courses(frame: Frame) -> Rows:
    """Loss and held-out correlation by step of each encoder with its size, which `row` names together."""
    columns = [*KEYS, "seed", "step", "metric", "value", "learning_rate", "tokens", "data", "scale"]
    table = frame.select()[columns].reset_index(drop=True)
    names = table["encoder"] + " " + table["size"].astype(str).replace("0", "")
    table.insert(len(KEYS), "row", names.str.strip())
    return table


def attention_pairs(frame: Frame) -> Rows:
    """Scores of adapters with causal and with bidirectional attention (Figure 1)."""
    table = category_means(frame)
    table = table[table["encoder"].isin(("lora_uni", "lora_bi"))]
    pairs = table.groupby(["backbone", "size"])["encoder"].transform("nunique") == 2
    long = table[pairs].melt(
        [*KEYS, "scale", "seeds", "note"], list(CATEGORIES), var_name="category", value_name="value"
    )
    return long.sort_values(["backbone", "size"], kind="stable").reset_index(drop=True)


def printed_row(own: Own, row: Cell, column: str, *, table: str) -> Counterpart:
    """Our cell beside a printed one, by the names that `results.ROWS` gives the printed row."""
    from reprlab.papers.prompt_tuning_encoders.names import BACKBONES, ROWS

    encoder, size = ROWS[row["row"]]
    where = {"backbone": BACKBONES[row["model"]], "encoder": encoder, "size": int(row["k"] or size)}
    ours = own.rows(table, **where)
    if ours.empty or column not in ours or ours[column].isna().all():
        return own.missing()
    cell = ours.iloc[0]
    value = cell[column]
    text = f"{int(value)}" if column in ("trained", "total") else f"{value:.{6 if column in _SHARES else 2}f}"
    told = [about(cell, column, own.frame.scale), cell.get("note") or ""]
    return Counterpart(text, "; ".join(filter(None, told)))


_SHARES = ("params_percent", "share")


def sizes(frame: Frame) -> Rows:
    """A row for each encoder: what it trains, that with the decoder, and the share in percent (Table 4)."""
    rows = frame.select()
    wide = rows.pivot_table(index=KEYS, columns="metric", values="value")
    wide = wide.reindex(index=rows.drop_duplicates(KEYS).set_index(KEYS).index, columns=["trained", "total", "share"])
    return wide.reset_index().astype({"trained": "Int64", "total": "Int64"}).assign(scale=frame.scale)
