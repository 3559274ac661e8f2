"""A lineage of models whose features are known: which persist, what they fire on, and how well they are explained."""

import numpy as np
import pyarrow
import pytest
import scipy.sparse
import torch
from features_samples import tiny_mistral
from reprlab.artifacts.tables import read_parquet, write_parquet
from reprlab.features.autoencoder import SparseAutoencoder
from reprlab.features.comparison import best_links, compare_models
from reprlab.features.description import Description
from reprlab.features.interpretation import agreement, choose_samples, interpret
from reprlab.features.quality import Quality, mean_state
from reprlab.features.sample import TokenSample
from reprlab.features.settings import (
    AutoencoderShape,
    CaseStudy,
    ComparedModel,
    CorrelationSettings,
    DescriptionSettings,
    FeatureComparison,
    InterpretationSettings,
    Pair,
)
from reprlab.features.sparse import SparseFeatures

NAMES = ("base", "lua", "stories", "merged")
TEXTS = {5: "x", 6: "=", 7: "y", 8: ";", 9: "z", 10: "(", 11: "w", 12: "v"}
THRESHOLD = 0.9


class Words:
    """A tokenizer of eight words."""

    def convert_ids_to_tokens(self, ids):
        return [f"▁{TEXTS[one]}" for one in ids]


@pytest.fixture(scope="module")
def lineage(tmp_path_factory):
    """Features of four models on one sample: a feature fires on a token, wherever it stands.

    Of token 10 the children have halves that the merged model keeps apart; stories hears token 6 with noise.
    """
    folder = tmp_path_factory.mktemp("lineage")
    random = np.random.default_rng(0)
    sample = TokenSample(
        random.integers(5, 13, (60, 6)).astype(np.int32), np.repeat([0, 1], 30), ("lua", "python"), (1,)
    )
    flat = sample.ids.ravel()
    one, two = (np.where(random.random(len(flat)) < 0.5, 0.55, 1.45) for _ in range(2))
    on = {token: (flat == token) * (2 + np.arange(len(flat)) % 3 / 10) for token in TEXTS}
    first, second = (flat == 10) * one, (flat == 10) * two
    noisy = on[6] * np.where(np.arange(len(flat)) % 2, 0.85, 1.15)
    columns = {
        "base": {0: on[6], 1: on[7], 2: on[8], 4: on[8] + on[5], 5: first + second},
        "lua": {0: on[7], 1: on[6], 3: on[9], 5: first},
        "stories": {0: noisy, 1: on[9], 2: on[8], 5: second},
        "merged": {0: on[9], 1: on[6], 2: on[7], 3: on[11], 5: first, 6: second},
    }
    for name, own in columns.items():
        values = np.zeros((len(flat), 7), dtype=np.float32)
        for number, column in own.items():
            values[:, number] = column
        (folder / name).mkdir()
        SparseFeatures(scipy.sparse.csr_array(values), sample.identity).save(folder / name)
    densities = pyarrow.table({"density": [0.1, 0.1, 0.1, 0.0, 0.2, 0.1, 0.3]})
    write_parquet(folder / "densities.parquet", densities)
    links = [("base", "lua"), ("base", "stories"), ("lua", "merged"), ("stories", "merged")]
    settings = FeatureComparison(
        models={
            name: ComparedModel(
                features=folder / name, densities=folder / "densities.parquet" if name == "base" else None
            )
            for name in NAMES
        },
        pairs=[
            *(Pair(parent=parent, child=child) for parent, child in links),
            Pair(parent="base", child="lua", control="shuffled", shuffled=True),
        ],
        thresholds=[THRESHOLD], base="base", children=["lua", "stories"], merged="merged",
        correlation=CorrelationSettings(least_positions=2, floor=0.5),
    )  # fmt: skip
    found = compare_models(settings, sample.inner)
    write_parquet(folder / "links.parquet", pyarrow.table(found.links))
    return {"folder": folder, "sample": sample, "settings": settings, "found": found, "columns": columns}


def counts(lineage, parent, child, match="many", control="", positions="all"):
    wanted = {"parent": parent, "child": child, "match": match, "control": control, "positions": positions}
    rows = [row for row in lineage["found"].counts if all(row[name] == value for name, value in wanted.items())]
    assert len({row["metric"] for row in rows}) == len(rows) > 0
    return {row["metric"]: row["value"] for row in rows}


@pytest.mark.parametrize("positions", ["all", "inner"])
@pytest.mark.parametrize("match", ["many", "mutual"])
def test_counts_of_every_link_and_chain(lineage, match, positions):
    about = {"match": match, "positions": positions}
    wanted = {
        ("base", "lua"): (5, 4, 3, 2, 3, 1, 60, 75), ("base", "stories"): (5, 4, 3, 2, 3, 1, 60, 75),
        ("lua", "merged"): (4, 6, 4, 0, 4, 2, 100, 200 / 3), ("stories", "merged"): (4, 6, 3, 1, 3, 3, 75, 50),
    }  # fmt: skip
    names = ("parent_alive", "child_alive", "persisting", "disappeared", "matched", "emerged", "share_parent",
             "share_child")  # fmt: skip
    for pair, values in wanted.items():
        assert counts(lineage, *pair, **about) == pytest.approx(dict(zip(names, values, strict=True)))
    shuffled = counts(lineage, "base", "lua", control="shuffled", **about)
    assert shuffled["persisting"] == 0 and shuffled["emerged"] == 4
    sources = counts(lineage, "children", "merged", **about)
    assert sources == {"from_first": 2, "from_second": 1, "from_both": 2, "emerged": 1}
    assert counts(lineage, "base", "merged", **about) == {"universal": 1, "universal_share": 20}


def test_classes_and_links(lineage):
    assert counts(lineage, "base", "", "") == {"alive": 5, "dead": 1, "unobserved": 1}
    assert counts(lineage, "lua", "", "") == {"alive": 4, "dead": 0, "unobserved": 3}
    path = lineage["folder"] / "links.parquet"
    parents, children, r = best_links(path, "base", "lua")
    found = dict(zip(parents.tolist(), zip(children.tolist(), r.tolist(), strict=True), strict=True))
    assert set(found) == {0, 1, 2, 4, 5} and [found[one][0] for one in (0, 1, 5)] == [1, 0, 5]
    dense = lineage["columns"]
    for parent, (child, value) in found.items():
        known = np.corrcoef(dense["base"][parent], dense["lua"][child])[0, 1]
        assert value == pytest.approx(known, abs=1e-4)
    table = read_parquet(path).to_pandas()
    shuffled = table[(table["control"] == "shuffled") & (table["positions"] == "all")]
    assert len(shuffled) == 5 and shuffled["best"].all() and (shuffled["r"] < 0.5).all()
    # Beside the best ones stand those from the floor on: the feature of two tokens holds the one of token 8.
    more = table[
        (table["parent_model"] == "base") & (table["child_model"] == "stories") & (table["positions"] == "all")
    ]
    assert (more["r"][~more["best"]] >= 0.5).all() and not more["mutual"][~more["best"]].any()
    mutual = more[more["mutual"]]
    assert mutual["parent"].tolist() == [0, 2, 5] and mutual["child"].tolist() == [0, 2, 5]
    other = compare_models(lineage["settings"].model_copy(update={"seed": 1}), lineage["sample"].inner)
    moved = [
        row["control"]
        for row, own in zip(other.counts, lineage["found"].counts, strict=True)
        if row["value"] != own["value"]
    ]
    assert set(moved) <= {"shuffled"}
    control = np.array(other.links["control"]) == "shuffled"
    assert np.array(other.links["r"])[control].tolist() != np.array(lineage["found"].links["r"])[control].tolist()


def description(lineage, **cases):
    folder = lineage["folder"]
    settings = DescriptionSettings(
        features={name: folder / name for name in NAMES}, base="base", merged="merged", children=["lua", "stories"],
        threshold=THRESHOLD, least_positions=2, cases=cases, contexts=2,
    )  # fmt: skip
    return Description(settings, lineage["sample"], TEXTS, folder / "links.parquet")


def test_what_features_fire_on(lineage):
    rows = list(description(lineage).formatting())
    # Tokens without a letter: `=`, `;` and `(`. Of the features that disappear in lua one fires on `;` alone.
    found = {(row["child"], row["group"]): row for row in rows}
    both = lineage["columns"]["base"][4]
    mixed = 100 * both[lineage["sample"].ids.ravel() == 8].sum() / both.sum()
    assert found["lua", "persisting"]["value"] == pytest.approx(100 * 2 / 3)
    assert found["lua", "disappeared"]["value"] == pytest.approx((100 + mixed) / 2, rel=1e-5)
    assert found["stories", "persisting"]["value"] == pytest.approx(100)
    assert found["stories", "disappeared"]["value"] == pytest.approx(mixed / 2, rel=1e-5)


def test_cases_are_those_of_the_highest_share_and_their_contexts_are_shown(lineage):
    same = CaseStudy(kind="universal", corpus="python", pattern="^=$")
    apart = CaseStudy(kind="universal", corpus="python", pattern=r"^\($")
    lost = CaseStudy(kind="lost", corpus="python", pattern="^;$")
    about = description(lineage, same=same, apart=apart, lost=lost)
    links, contexts = about.case("same")
    assert [(row["model"], row["partner"]) for row in links] == [("base", 0), ("lua", 1), ("stories", 0), ("merged", 1)]
    within = lineage["sample"].ids[30:]
    for row in links:
        assert row["mass_share"] == 100 and row["feature"] == 0 and row["corpus"] == "python"
        assert row["token_share"] == pytest.approx(100 * (within == 6).mean())
    r = {row["model"]: row["r"] for row in links}
    assert r["base"] == 1 and r["lua"] == pytest.approx(1) and THRESHOLD < r["stories"] < 0.999
    # The weaker one of the two links that end in it.
    assert r["merged"] == pytest.approx(r["stories"], abs=5e-3)
    # The two halves of token 10 end in two features of the merged model.
    assert about.case("apart") == ([], [])
    links, _ = about.case("lost")
    assert [(row["model"], row["feature"]) for row in links] == [("base", 2), ("lua", 2)] and links[1]["r"] < THRESHOLD
    assert len(contexts) == 4 * 2 * 6 and {row["place"] for row in contexts} == set(range(6))
    column = lineage["columns"]["base"][0].reshape(60, 6)
    peaks = np.where(np.arange(60) >= 30, column.max(1), 0)
    blocks = np.argsort(-peaks, kind="stable")[:2]
    for row in contexts:
        block = blocks[row["context"]]
        assert row["token"] == TEXTS[int(lineage["sample"].ids[block, row["place"]])]
        if row["model"] == "base":
            assert row["activation"] == pytest.approx(100 * column[block, row["place"]] / column.max(), rel=1e-5)


def test_explanations_of_one_half_are_scored_on_the_other(lineage):
    sample, folder = lineage["sample"], lineage["folder"]
    settings = InterpretationSettings(
        features=5, parent="base", child="lua", threshold=THRESHOLD, least_positions=2, top=3, lower=0, random=1,
        same_tokens=1, seed=4,
    )  # fmt: skip
    features = SparseFeatures.load(folder / "base")
    rows = interpret(features, sample, Words(), folder / "links.parquet", settings, None)
    assert [row["feature"] for row in rows] == [0, 1, 2, 4, 5] and {row["explainer"] for row in rows} == {
        "token statistics"
    }
    groups = [row["group"] for row in rows]
    assert groups == ["persisting", "persisting", "disappeared", "disappeared", "persisting"]
    assert [row["explanation"] for row in rows][:3] == ["' ='", "' y'", "' ;'"]
    assert sorted(rows[3]["explanation"].split()) == ["'", "'", ";'", "x'"]
    # The draws are those of the seed: the features first, then the halves.
    random = np.random.Generator(np.random.Philox(key=4))
    random.permutation(5)
    half = random.permutation(60) < 30
    values = features.values.toarray().reshape(60, 6, 7)
    chosen = []
    for part in (half, ~half):
        chosen = [
            choose_samples(values[part][:, :, row["feature"]], sample.ids[part], settings, random) for row in rows
        ]
    means = []
    for row in rows:
        own = values[half][:, :, row["feature"]]
        mean = {token: own[sample.ids[half] == token].mean() for token in TEXTS}
        means.append(np.vectorize(mean.get)(sample.ids[~half]))
    for place, row in enumerate(rows):
        true, shown = values[~half][:, :, row["feature"]], chosen[place]
        assert row["score_all"] == pytest.approx(agreement(means[place], true), rel=1e-6)
        assert row["score"] == pytest.approx(agreement(means[place][shown], true[shown]), rel=1e-6)
        assert row["score_other"] == pytest.approx(agreement(means[(place + 1) % 5][shown], true[shown]), rel=1e-6)
    other = interpret(
        features, sample, Words(), folder / "links.parquet", settings.model_copy(update={"seed": 5}), None
    )
    assert [row["score"] for row in other] != [row["score"] for row in rows]
    few = interpret(
        features, sample, Words(), folder / "links.parquet", settings.model_copy(update={"features": 2}), None
    )
    assert len(few) == 2


def test_agreement_is_pearsons_correlation():
    random = np.random.default_rng(0)
    one, two = random.normal(3, 1, (4, 5)), random.normal(-2, 5, (4, 5))
    assert agreement(one, two) == pytest.approx(np.corrcoef(one.ravel(), two.ravel())[0, 1])


def test_quality_by_hand():
    rows = [
        {"clean": 4.0, "zeroed": 10.0, "meaned": 8.0, "reconstructed": 5.5, "count": 2, "fired": 9.0, "error": 1.0,
         "variance": 4.0},
        {"clean": 6.0, "zeroed": 14.0, "meaned": 9.0, "reconstructed": 7.5, "count": 3, "fired": 11.0, "error": 2.0,
         "variance": 8.0},
    ]  # fmt: skip
    fired = np.array([0, 4, 8, 1])
    found = Quality(rows, fired, 1000).values()
    assert found["loss_recovered"] == pytest.approx(100 * (24 - 13) / (24 - 10))
    assert found["mean_recovered"] == pytest.approx(100 * (24 - 17) / (24 - 10))
    assert [found[f"{name}_loss"] for name in ("clean", "zeroed", "reconstructed")] == [2, 24 / 5, 13 / 5]
    assert found["explained_variance"] == pytest.approx(75) and found["l0"] == pytest.approx(0.02)
    assert found["dead_share"] == 25 and found["below_one_in_100"] == 100 and found["below_one_in_100000"] == 25
    assert np.array_equal(Quality(rows, fired, 1000).density(), fired / 1000)


def test_the_mean_state_is_that_of_all_tokens():
    from reprlab.features.activations import inner_states

    model, ids = tiny_mistral(), torch.arange(2, 26).view(4, 6)
    batches = [ids[:1], ids[1:]]
    states = torch.cat([inner_states(model, 0, one).flatten(0, 1) for one in batches])
    assert torch.allclose(mean_state(model, 0, batches), states.mean(0), atol=1e-6)
    assert torch.allclose(mean_state(model, 0, [ids[:1, :1]]), states[0], atol=1e-6)


def test_a_new_dictionary_is_drawn_evenly_about_nought_by_its_seed():
    shape = AutoencoderShape(features=4000, l1=0.1)
    found = SparseAutoencoder(9, shape, 3)
    for matrix in (found.encoder, found.decoder):
        assert abs(float(matrix.detach().mean())) < 0.01
    weights = found.encoder.detach()
    assert float(weights.min()) == pytest.approx(-float(weights.max()), rel=1e-2)
    assert not torch.equal(weights, SparseAutoencoder(9, shape, 4).encoder)
