import json

import numpy as np
import pyarrow
import pytest
import scipy.sparse
import torch
from chat_endpoint import serving_digits
from features_samples import INNER, tiny_mistral, token_file
from reprlab.artifacts.tables import write_parquet
from reprlab.features.comparison import LINK_COLUMNS
from reprlab.features.description import Description
from reprlab.features.interpretation import (
    ChatExplainer,
    Feature,
    TokenStatistics,
    agreement,
    choose_samples,
    explain_prompt,
    likeliest_digit,
    quantised,
    restored,
)
from reprlab.features.sample import TokenSample, draw_sample
from reprlab.features.settings import CaseStudy, DescriptionSettings, InterpretationSettings, SampleSettings
from reprlab.features.sparse import SparseFeatures, random_features, sample_features
from reprlab.inference.chat_settings import ChatSettings
from reprlab.runtime.errors import ReprlabError

LINK = {"parent": "lua", "child": "merged", "threshold": 0.8}


def test_levels_of_activations():
    """Spec 5.13: the least is 0 and the greatest 9, or 10 where nothing is clipped."""
    values = np.array([2.0, 3.0, 6.99, 12.0])
    assert quantised(values, 2, 12).tolist() == [0, 1, 4, 9]
    assert quantised(values, 2, 12, clip=False).tolist() == [0, 1, 4, 10]
    assert restored(np.array([0, 9]), 2, 12).tolist() == [2.5, 11.5]
    assert quantised(values, 3, 3).tolist() == [0, 0, 0, 0]


def test_samples_are_of_every_kind_and_none_comes_twice():
    random = np.random.default_rng(0)
    ids = random.integers(10, 20, (200, 6))
    activations = random.random((200, 6)) * (random.random((200, 1)) < 0.5)
    ids[:3, 2], activations[:3, 2] = 5, [9, 9, 9]
    ids[150, 3], activations[150] = 5, 0
    settings = InterpretationSettings(features=1, **LINK, top=3, lower=1, random=4, same_tokens=2)
    chosen = choose_samples(activations, ids, settings, np.random.default_rng(1))
    assert set(chosen[:3]) == {0, 1, 2} and len(set(chosen)) == len(chosen)
    assert 150 in chosen
    level = quantised(activations.max(1), 0, 9)
    assert {int(one) for one in level[chosen]} == {int(one) for one in level}


def feature(seed=0, number=7):
    random = np.random.default_rng(seed)
    ids = random.integers(0, 6, (30, 8))
    return Feature(number, np.where(ids == 3, 4.0, 0.0), ids, [[f"t{token}" for token in row] for row in ids.tolist()])


def test_a_feature_of_single_tokens_is_known_by_their_statistics():
    seen, unseen = feature(), feature(1)
    explainer = TokenStatistics({token: f"t{token}" for token in range(6)})
    (explanation,) = explainer.explain([seen])
    assert explainer.words(explanation) == "'t3'"
    (simulated,) = explainer.simulate([explanation], [unseen])
    assert agreement(simulated, unseen.activations) == pytest.approx(1)
    assert np.isnan(agreement(np.zeros(4), np.arange(4)))
    # Of a token that was not there nothing is known, whether it would stand before, between or behind those that were.
    ids = np.array([[9, 3, -1, 6]])
    assert explainer.simulate([explanation], [Feature(7, np.zeros((1, 4)), ids, [["a"] * 4])])[0].tolist() == [
        [0, 4, 0, 0]
    ]


def test_prompts_have_a_line_for_each_token():
    one = Feature(3, np.array([[0.0, 5.0, 10.0]]), np.array([[1, 2, 3]]), [["\n", "a\tb", "x"]])
    lines = explain_prompt(one).split("\n")
    assert lines[:6] == ["Feature #3", "Activations:", "<sample start>", "'\\n'\t0", "'a\\tb'\t5", "'x'\t9"]
    assert lines[6] == "<sample end>" and lines[-1].startswith("Explain the behaviour of Feature #3")


def test_the_likeliest_digit_counts():
    assert likeliest_digit({"7": -0.1, " 3": -2.0, "seven": -0.01}) == 7
    assert likeliest_digit({"none": -0.1}) == 0


def test_a_chat_model_explains_and_simulates(tmp_path, monkeypatch):
    def say(messages):
        last = messages[-1]["content"]
        if last.startswith("Feature #"):
            return "the third token", {}
        digit = "9" if last.endswith("'t3'") else "0"
        return digit, {digit: -0.1, "5": -3.0}

    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with serving_digits(say) as server:
        chat = ChatSettings(model="m", base_url=server.address, max_tokens=60)
        settings = InterpretationSettings(features=1, **LINK, explain="You explain.", simulate="You score.", chat=chat)
        explainer = ChatExplainer(settings, chat, tmp_path)
        explanations = explainer.explain([feature()])
        assert [explainer.words(one) for one in explanations] == ["the third token"]
        (simulated,) = explainer.simulate(explanations, [feature(1)])
        assert agreement(simulated, feature(1).activations) == pytest.approx(1)
        asked = list(server.asked)
        explainer.simulate(explainer.explain([feature()]), [feature(1)])
        assert server.asked == asked
    # One question, and one for each distinct token.
    assert len(asked) == 1 + 6
    assert asked[0]["messages"][0] == {"role": "system", "content": "You explain."} and asked[0]["max_tokens"] == 60
    assert asked[-1]["top_logprobs"] == 10 and asked[-1]["max_tokens"] == 1 and asked[-1]["temperature"] == 0
    assert asked[-1]["messages"][-1]["content"].startswith('Description: "the third token"\nToken: ')
    assert json.loads(next(tmp_path.glob("*.json")).read_text())["by"]["request"]["model"] == "m"


def test_one_sample_serves_all_models(tmp_path):
    texts = {name: token_file(tmp_path / f"{name}.parquet", seed=seed) for seed, name in enumerate(("lua", "python"))}
    settings = SampleSettings(texts=texts, block=5, blocks=6, seed=3)
    found = draw_sample(settings, [1])
    assert found.ids.shape == (12, 5) and found.corpus.tolist() == [0] * 6 + [1] * 6
    inner = found.inner.reshape(12, 5)
    assert not inner[:, 0].any() and not inner[found.ids == 1].any() and inner.sum() > 40
    found.save(tmp_path / "sample.parquet")
    again = TokenSample.load(tmp_path / "sample.parquet")
    assert again.identity == found.identity and np.array_equal(again.ids, found.ids)
    assert again.corpora == ("lua", "python") and np.array_equal(again.inner, found.inner)
    other = draw_sample(settings.model_copy(update={"seed": 4}), [1])
    assert other.identity != found.identity
    with pytest.raises(ReprlabError, match="61 are wanted"):
        draw_sample(settings.model_copy(update={"blocks": 61}), [1])


def test_features_of_a_sample_are_those_of_each_block(tmp_path):
    sample = draw_sample(SampleSettings(texts={"a": token_file(tmp_path / "a.parquet")}, block=5, blocks=7), [1])
    model = tiny_mistral()
    found = sample_features(model, 0, sample, torch.relu, 3)
    assert found.values.shape == (35, INNER) and found.sample == sample.identity
    (tmp_path / "f").mkdir()
    found.save(tmp_path / "f")
    again = SparseFeatures.load(tmp_path / "f")
    assert (again.values != found.values).nnz == 0
    whole = sample_features(model, 0, sample, torch.relu, 100)
    assert np.allclose(whole.values.toarray(), found.values.toarray(), atol=1e-6)


@pytest.mark.parametrize(
    ("first", "digit"),
    [
        ({"7": -0.2, "8": -2.0, " 7": -6.0}, 7), ({" 7": -6.0, "8": -2.0, "7": -0.2}, 7),
        ({"3": -9.0, "4": -3.0, " 3": -0.1}, 3), ({"9\n": -4.0, "5": -1.0, "\t5": -7.0}, 5), ({"x": -0.1}, 0),
    ],
)  # fmt: skip
def test_of_a_digit_that_is_there_twice_the_likelier_one_counts(first, digit):
    assert likeliest_digit(first) == digit


def test_quality_does_not_depend_on_how_many_blocks_are_read_at_once():
    """Two corpora one behind the other: the mean of a batch is not that of all."""
    import torch
    from features_samples import INNER, tiny_mistral
    from reprlab.features.activations import inner_states
    from reprlab.features.quality import measure_quality

    model = tiny_mistral()
    ids = torch.cat([torch.randint(2, 8, (4, 16)), torch.randint(30, 38, (4, 16))])
    states = inner_states(model, 0, ids).flatten(0, 1)
    wanted = 100 * (1 - float((0.3 * states).square().sum() / (states - states.mean(0)).square().sum()))

    def code(state):
        return torch.cat([state.relu(), (-state).relu()], dim=1)

    found = [
        measure_quality(model, 0, list(ids.split(size)), code, lambda h: 0.7 * (h[:, :INNER] - h[:, INNER:]))
        for size in (8, 3, 1)
    ]
    for one in found:
        assert one.values()["explained_variance"] == pytest.approx(wanted, rel=1e-4)
        assert one.total("meaned") == pytest.approx(found[0].total("meaned"), rel=1e-6)


def test_a_random_dictionary_is_as_dense_feature_by_feature(tmp_path):
    sample = draw_sample(SampleSettings(texts={"a": token_file(tmp_path / "a.parquet")}, block=5, blocks=40), [1])
    model = tiny_mistral()
    learnt = sample_features(model, 0, sample, lambda states: torch.relu(states @ torch.randn(INNER, 150)), 100)
    # One that never fires, and one that always does.
    dense = learnt.values.toarray()
    dense[:, 3], dense[:, 4] = 0, 1
    learnt = SparseFeatures(scipy.sparse.csr_array(dense), sample.identity)
    drawn = random_features(model, 0, sample, learnt, 5, 7)
    assert drawn.values.shape == learnt.values.shape and drawn.sample == sample.identity
    states = sample_features(model, 0, sample, lambda states: states, 100).values.toarray()
    # Positions with one and the same state (equal tokens at the start of a block) fire together or not at all.
    alike = np.unique(states.round(4), axis=0, return_counts=True)[1].max()
    fewer = (dense > 0).sum(0) - (drawn.values.toarray() > 0).sum(0)
    assert fewer.min() >= 0 and fewer.max() < alike < 20 and (fewer == 0).mean() > 0.8 and fewer[4] == 0
    # What fires is what points most into a direction: the states themselves, and no noise, decide where.
    whole = random_features(model, 0, sample, learnt, 5, 100).values.toarray()
    assert np.allclose(drawn.values.toarray(), whole, atol=1e-5)
    atoms = np.random.Generator(np.random.Philox(key=5)).standard_normal((150, INNER))
    projected = states @ (atoms / np.linalg.norm(atoms, axis=1, keepdims=True)).T
    fires = drawn.values.toarray() > 0
    gaps = [projected[fires[:, one], one].min() - projected[~fires[:, one], one].max() for one in (0, 7, 149)]
    assert min(gaps) > -1e-5
    other = random_features(model, 0, sample, learnt, 6, 100)
    assert ((other.values.toarray() > 0) != fires).mean() > 0.1
    with pytest.raises(ReprlabError, match="say nothing of densities"):
        random_features(model, 0, sample, SparseFeatures(learnt.values, "another"), 5, 100)


def test_a_case_wants_more_of_its_tokens_than_there_are(tmp_path):
    """A feature with a quarter of its activation on tokens that are a quarter of the text is none of them, and a
    universal one fires on them in every model."""
    ids = np.tile(np.array([5, 6, 7, 8], dtype=np.int32), (8, 1))
    sample = TokenSample(ids, np.zeros(8, dtype=np.int32), ("python",), (1,))
    even, on_them = np.ones((32, 1)), (ids.ravel() == 6).astype(float)[:, None]
    links = {name: [] for name in LINK_COLUMNS}
    for one, two in (("base", "lua"), ("base", "stories"), ("lua", "merged"), ("stories", "merged")):
        about = {"positions": "all", "control": "", "parent_model": one, "child_model": two, "r": 0.9, "best": True}
        for name, value in {**about, "mutual": True, "parent": 0, "child": 0}.items():
            links[name].append(value)
    write_parquet(tmp_path / "links.parquet", pyarrow.table(links))
    texts = {5: "x", 6: "=", 7: "y", 8: "z"}
    found = {}
    folders = {name: tmp_path / name for name in ("even", "on them")}
    for folder, values in zip(folders.values(), (even, on_them), strict=True):
        folder.mkdir()
        SparseFeatures(scipy.sparse.csr_array(values), sample.identity).save(folder)
    models = ("base", "lua", "stories", "merged")
    lineages = {name: dict.fromkeys(models, folder) for name, folder in folders.items()}
    lineages |= {f"not in {one}": {**lineages["on them"], one: folders["even"]} for one in models}
    for name, features in lineages.items():
        case = CaseStudy(kind="universal", corpus="python", pattern="^=$")
        settings = DescriptionSettings(
            features=features, base="base", merged="merged",
            children=["lua", "stories"], threshold=0.8, least_positions=1, cases={"assignment": case}, contexts=1,
        )  # fmt: skip
        found[name] = Description(settings, sample, texts, tmp_path / "links.parquet").case("assignment")[0]
    assert all(found[name] == [] for name in lineages if name != "on them")
    assert [row["mass_share"] for row in found["on them"]] == [100.0] * 4
