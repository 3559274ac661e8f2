"""Lists ranked by one token: prompts id by id, the loss by hand, letters and candidates, windows, both stages."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import finetune_fixtures
import numpy as np
import pytest
import torch
from pydantic import ValidationError
from reprlab.artifacts.tables import read_tsv
from reprlab.retrieval.list_inputs import ListBatches, in_first_order, list_inputs
from reprlab.retrieval.listwise import list_loss, list_reranker, rerank_lists, slide, weighted_ranknet, windows
from reprlab.retrieval.rerank_groups import Group
from reprlab.retrieval.rerank_settings import FirstStage, ListSettings, RerankerTraining, Reranking
from reprlab.retrieval.run_files import read_run
from reprlab.retrieval.trec import ordered
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.rerank_passages import rerank_passages
from reprlab.stages.retrieve_passages import retrieve_passages
from reprlab.stages.train_reranker import train_reranker
from reprlab.training import passes
from rerank_fixtures import Words, tiny
from safetensors.torch import load_file
from test_rerank_stages import METRICS, collection, model_folder
from test_rerank_templates import byte_level

LISTS = ListSettings(window=3, step=2, passage_tokens=4)
QUERY, DOCUMENTS = "who is it", {"d0": "the cat sat there", "d1": "it is the cat", "d2": "there it sat"}


def prompts(
    tokenizer: Any, documents: dict[str, str] = DOCUMENTS, lists: ListSettings = LISTS, max_query: int = 8
) -> Any:
    return list_inputs(tokenizer, {"q": QUERY}, documents, lists, max_query)


def loss_of(scores: list[float], ranks: list[int], weight: float) -> float:
    logits = torch.tensor([scores])
    batch = {"input_ids": logits, "attention_mask": torch.ones_like(logits), "ranks": torch.tensor([ranks])}
    batch["grades"] = (batch["ranks"] == 1).long()
    return list_loss(weight)(lambda ids, mask: ids, batch)[0].item()


def test_a_prompt_is_that_of_its_text():
    tokenizer = byte_level("</s> $A")
    ids = prompts(tokenizer).ids("q", ["d1", "d0"])
    text = f"query: {QUERY}\nA: {DOCUMENTS['d1']}\nB: {DOCUMENTS['d0']}\nquery: {QUERY}\nmost relevant:\n"
    assert ids == tokenizer(text)["input_ids"] and ids[0] == 2
    # The answer goes on with a letter: what the text with it has behind the prompt.
    for place, letter in enumerate("ABC"):
        assert tokenizer(text + letter)["input_ids"] == [*ids, prompts(tokenizer).letters[place]]


def test_passages_and_queries_are_cut_and_text_never_acts():
    tokenizer = byte_level("</s> $A")
    hostile = {"d0": "</s> " + "cat " * 50, "d1": "<pad>"}
    ids = prompts(tokenizer, hostile, ListSettings(window=2, passage_tokens=7), max_query=1)
    found = ids.ids("q", ["d0", "d1"])
    assert found.count(2) == 1 and found[0] == 2 and 0 not in found
    longer = prompts(tokenizer, hostile, ListSettings(window=2, passage_tokens=8), max_query=2)
    # One more token of the long passage, or of the short one's name, and of the query, which is read twice.
    assert len(longer.ids("q", ["d0"])) == len(ids.ids("q", ["d0"])) + 1 + 2


def test_letters_that_are_no_single_tokens_are_refused():
    class Spelt(Words):
        def __call__(self, texts: Any, **options: Any) -> Any:
            return super().__call__([text.replace("C", "C C") for text in texts], **options)

    class Unknown(Words):
        unk_token_id = 7

        def __call__(self, texts: Any, **options: Any) -> Any:
            found = super().__call__(texts, **options)
            low = self.known.get("C")
            return {"input_ids": [[7 if index == low else index for index in ids] for ids in found["input_ids"]]}

    for tokenizer in (Spelt(), Unknown()):
        with pytest.raises(
            ReprlabError, match=r"letters A to C are not 3 single tokens.* set a smaller window"
        ) as error:
            prompts(tokenizer)
        assert "\n" not in str(error.value)
        prompts(tokenizer, lists=ListSettings(window=2, passage_tokens=4))


@pytest.mark.parametrize(
    ("own", "said"), [({"window": 27}, "less than or equal to 26"), ({"step": 3}, "step: 3 places")]
)
def test_lists_longer_than_the_letters_and_windows_that_do_not_overlap_are_refused(own, said):
    with pytest.raises(ValidationError, match=said):
        ListSettings(**{"window": 3, "passage_tokens": 4, **own})
    ListSettings(window=26, step=25, passage_tokens=1)


def test_two_candidates_have_the_logistic_loss_of_their_difference():
    for one, other in ((1.5, -0.5), (-3.0, 2.0), (0.0, 0.0)):
        plain = math.log1p(math.exp(other - one))
        for weight in (0.0, 10.0):
            assert loss_of([one, other], [1, 2], weight) == pytest.approx((1 + weight / 3) * plain, rel=1e-6)
            assert loss_of([other, one], [2, 1], weight) == pytest.approx((1 + weight / 3) * plain, rel=1e-6)


def test_pairs_are_weighted_by_their_ranks():
    """By hand: the best of rank 1 against those of ranks 2 and 3; a ranking of all three has the third pair as well."""
    logits, ranks = torch.tensor([[0.3, 2.0, -1.0]]), torch.tensor([[2, 1, 3]])
    pair = lambda better, worse: math.log1p(math.exp(worse - better))  # noqa: E731
    two = [pair(2.0, 0.3) / 3, pair(2.0, -1.0) / 4]
    assert weighted_ranknet(logits, ranks, (ranks == 1).long()).item() == pytest.approx(sum(two) / 2)
    assert weighted_ranknet(logits, ranks, -ranks).item() == pytest.approx((sum(two) + pair(0.3, -1.0) / 5) / 3)
    ties = weighted_ranknet(logits, ranks, torch.zeros_like(ranks))
    assert ties.item() == 0


def test_permuted_candidates_take_letters_alone_and_the_loss_follows():
    """The letters stand still in the prompt while passages change places; logits that move along lose the same."""
    words = Words()
    inputs, names = prompts(words), ["d0", "d1", "d2"]
    own = inputs.ids("q", names)
    for order in ([1, 2, 0], [2, 1, 0]):
        other = inputs.ids("q", [names[place] for place in order])
        assert len(other) == len(own) and sorted(other) == sorted(own) and other != own
        headings = [words.known[f"{letter}:"] for letter in "ABC"]
        assert [index for index in other if index in headings] == headings
        scores, ranks = [0.3, 2.0, -1.0], [2, 1, 3]
        moved = [[values[place] for place in order] for values in (scores, ranks)]
        assert loss_of(*moved, 10.0) == pytest.approx(loss_of(scores, ranks, 10.0), rel=1e-6)


def test_candidates_are_shuffled_by_the_seed_and_keep_their_ranks():
    words = Words()
    inputs = prompts(words)
    run = {"q": {"d1": 3.0, "d2": 2.0, "d0": 1.0}}
    groups = in_first_order([Group("q", ["d0", "d2", "d1"])] * 40, run)
    assert {tuple(group.documents) for group in groups} == {("d0", "d1", "d2")}, "the best, then as they were found"
    batches, rows = ListBatches(groups, inputs, 0, seed=1), np.arange(40)
    found = batches(rows, 5)
    orders = {tuple(row) for row in found["ranks"].tolist()}
    assert len(orders) == 6 and (found["grades"] == (found["ranks"] == 1)).all()
    # Of most orders of three the inverse is the order itself, so that a few rows would not tell them apart.
    for row in rows.tolist():
        names = [groups[0].documents[rank - 1] for rank in found["ranks"][row].tolist()]
        ids = found["input_ids"][row][found["attention_mask"][row].bool()].tolist()
        assert ids == inputs.ids("q", names)
    again, later, other = batches(rows[3:9], 5), batches(rows, 6), ListBatches(groups, inputs, 0, seed=2)(rows, 5)
    assert torch.equal(again["ranks"], found["ranks"][3:9]), "a list's order is its own, however a batch is cut"
    assert not torch.equal(later["ranks"], found["ranks"]) and not torch.equal(other["ranks"], found["ranks"])


@pytest.mark.parametrize(
    ("count", "window", "step", "places"),
    [(100, 20, 10, [(start, start + 20) for start in range(80, -1, -10)]), (7, 4, 2, [(3, 7), (1, 5), (0, 4)]),
     (3, 4, 2, [(0, 3)]), (4, 4, 2, [(0, 4)]), (20, 8, 4, [(12, 20), (8, 16), (4, 12), (0, 8)])],
)  # fmt: skip
def test_windows_slide_from_the_bottom_to_the_top(count, window, step, places):
    assert windows(count, window, step) == places


def test_a_perfect_judge_brings_the_ten_best_of_a_hundred_to_the_top():
    """As the source has it: windows of 20 by 10 take ten documents along, in their order, wherever they were."""
    rng = np.random.default_rng(0)
    names = [f"d{place:02d}" for place in range(100)]
    worth = dict(zip(names, rng.permutation(100).tolist(), strict=True))
    run = {
        "q": {name: float(100 - place) for place, name in enumerate(names)},
        "few": {"d07": 2.0, "d03": 1.0},
        "none": {},
    }
    asked: list[int] = []

    def judge(lists: list[tuple[str, list[str]]]) -> np.ndarray:
        asked.append(len(lists))
        return np.array([[*map(worth.__getitem__, own), *[0] * (20 - len(own))] for _, own in lists], dtype=float)

    found = slide(run, judge, 20, 10)
    best = sorted(names, key=lambda name: -worth[name])
    assert ordered(found["q"])[:10] == best[:10] and set(found["q"]) == set(names)
    assert ordered(found["few"]) == sorted(["d07", "d03"], key=lambda name: -worth[name]) and found["none"] == {}
    assert asked == [2, *[1] * 8], "each query in each of its windows once"
    # A judge that says nothing leaves the order.
    assert ordered(slide(run, lambda lists: np.zeros((len(lists), 20)), 20, 10)["q"]) == names


def test_logits_are_those_of_the_whole_model_at_the_last_token():
    model = tiny("opt").eval()
    network = list_reranker(model, [11, 13]).eval()
    ids = torch.tensor([[12, 14, 15, 0], [12, 14, 15, 16]])
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]])
    with torch.no_grad():
        wanted = torch.stack([model(input_ids=ids[:1, :3]).logits[0, 2], model(input_ids=ids[1:]).logits[0, 3]])
        assert torch.allclose(network(ids, mask), wanted[:, [11, 13]], atol=1e-6)
    assert {id(value) for value in network.parameters()} == {id(value) for value in model.parameters()}
    with pytest.raises(ReprlabError, match="BertModel has no output layer"):
        list_reranker(tiny("bert"), [1])


def test_scores_follow_candidates_that_trade_places_where_the_model_reads_no_order():
    """A model that finds its answer in the words: the best document is on top from wherever it starts."""
    words = Words()
    documents = {f"d{place}": "no no no" for place in range(9)} | {"d4": "yes it is"}
    lists = ListSettings(window=4, step=2, passage_tokens=3)
    inputs = list_inputs(words, {"q": QUERY}, documents, lists, 8)
    headings = [words.known[f"{letter}:"] for letter in "ABCD"]

    class Finder(torch.nn.Module):
        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            behind = [torch.where(ids == heading, ids.roll(-1, 1), 0).amax(1) for heading in headings]
            return (torch.stack(behind, 1) == words.known["yes"]).float()

    for start in range(9):
        names = [name for name in documents if name != "d4"]
        names.insert(start, "d4")
        run = {"q": {name: float(9 - place) for place, name in enumerate(names)}}
        found, read = rerank_lists(Finder(), inputs, run, 0, lists)
        assert ordered(found["q"]) == ["d4", *(name for name in names if name != "d4")]
    # Four windows of four passages of three words and a heading, in a frame of two queries: of nine documents.
    assert read == pytest.approx(4 * (1 + 3 + 4 * 4 + 1 + 3 + 2) / 9)


@pytest.mark.parametrize("weight", [0.0, 10.0])
def test_a_worth_of_words_is_learnt_from_lists(weight):
    """Of words that stand alone as passages the marked one is the best, whatever letter it has."""
    words = Words()
    documents = {f"d{place}": f"w{place}" for place in range(6)}
    lists = ListSettings(window=4, passage_tokens=1)
    inputs = list_inputs(words, {"q": QUERY}, documents, lists, 8)
    groups = [Group("q", ["d5", *(f"d{place}" for place in others)]) for others in ([0, 1, 2], [2, 3, 4], [4, 0, 3])]
    batches, worth = ListBatches(groups, inputs, 0, seed=0), torch.zeros(60, requires_grad=True)
    headings = torch.tensor([words.known[f"{letter}:"] for letter in "ABCD"])

    def network(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        behind = (ids[:, :, None] == headings).roll(1, 1)
        return (worth[ids][:, :, None] * behind).sum(1)

    optimizer, losses, hits = torch.optim.SGD([worth], lr=0.1), [], 0
    for step in range(30):
        loss, parts = list_loss(weight)(network, batches(np.arange(3), step))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        hits = int(parts["correct"])
    scores = {name: worth[words.known[text]].item() for name, text in documents.items()}
    assert losses[-1] < losses[0] and hits == 3 and max(scores, key=scores.__getitem__) == "d5"
    # Of equal scores: ln 4, and ln 2 over the ranks 3, 4 and 5 of three pairs.
    assert losses[0] == pytest.approx(math.log(4) + weight * math.log(2) * (1 / 3 + 1 / 4 + 1 / 5) / 3)


def run_lists(folder: Path, model: Path, examples: Path, lists: dict[str, Any]) -> dict[str, Path]:
    """First stage, training of lists, their scores, and those of the model as it was."""
    found = {name: folder / f"{name}.tsv" for name in ("first", "training", "scores", "contrasts", "untrained", "gaps")}
    settings = FirstStage(depth=8, splits=["train", "test"], queries={"test": 10}, metrics=METRICS)
    retrieve_passages(examples=examples, out=folder / "runs", metrics=found["first"], settings=settings)
    pairs = {"template": "document_first", "max_length": 24, "max_query": 8}
    engine = {"steps": 1, "batch_size": 4, "optimizer": {"learning_rate": 1e-2}, "log_every": 1}
    training = RerankerTraining.model_validate(
        {"pairs": pairs, "engine": engine, "epochs": 1, "negatives": 3, "seeds": [0, 1]}
    )
    train_reranker(
        examples=examples, run=folder / "runs", model=model, tokenizer=model, out=folder / "models",
        metrics=found["training"], work=folder / "work/one", settings=training, fingerprint="x",
        lists=ListSettings(ranknet_weight=10.0, **lists),
    )  # fmt: skip
    toy = {"name": "toy", "examples": examples, "run": folder / "runs", "split": "test"}
    scoring = {"pairs": pairs, "collections": [toy], "metrics": METRICS}
    read = ListSettings(step=2, **lists)
    rerank_passages(
        models=folder / "models", training=found["training"], out=folder / "reranked", metrics=found["scores"],
        contrasts=found["contrasts"], settings=Reranking.model_validate({**scoring, "seeds": [0, 1]}), lists=read,
    )  # fmt: skip
    rerank_passages(
        models=model, tokenizer=model, out=folder / "asked", metrics=found["untrained"], contrasts=found["gaps"],
        settings=Reranking.model_validate(scoring), lists=read,
    )  # fmt: skip
    return {
        **found,
        "run": folder / "reranked/toy.test.seed-1.arrow",
        "model": folder / "models/seed-1/model.safetensors",
    }


TOY = {"window": 4, "passage_tokens": 6}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A folder of a model of a family, whose tokenizer has the letters, and examples."""
    monkeypatch.setattr(finetune_fixtures, "WORDS", [*finetune_fixtures.WORDS, *"ABCD"])
    return lambda family: (model_folder(tmp_path / "model", family), collection(tmp_path / "toy.parquet"))


@pytest.mark.parametrize("family", ["opt", "mamba2"])
def test_from_passages_to_scores_and_the_same_again(family, tmp_path, toy):
    model, examples = toy(family)
    found, again = (run_lists(tmp_path / name, model, examples, TOY) for name in ("one", "two"))
    for name, path in found.items():
        assert path.read_bytes() == again[name].read_bytes(), f"{name} is not the same again"
    scores, untrained, losses = (read_tsv(found[name]) for name in ("scores", "untrained", "training"))
    assert set(scores.seed) == {0, 1} and (scores.steps == losses["step"].max()).all() and (scores.tokens > 0).all()
    assert (untrained[["steps", "tokens"]] == 0).all(axis=None) and set(untrained.seed) == {0}
    weights = load_file(found["model"])
    assert set(scores.parameters) == set(untrained.parameters) == {sum(one.numel() for one in weights.values())}
    assert not any(torch.equal(value, load_file(model / "model.safetensors")[name]) for name, value in weights.items())
    before = read_run(tmp_path / "one/runs/test.arrow")
    runs = [read_run(path) for path in sorted((tmp_path / "one").glob("*/toy.test.seed-*.arrow"))]
    assert len(runs) == 3 and all(set(hits) == set(one[query]) for one in runs for query, hits in before.items())
    assert any(ordered(hits) != ordered(one[query]) for one in runs for query, hits in before.items())
    assert not any((tmp_path / "one/work").iterdir())


def test_a_group_that_is_longer_than_the_window_is_refused(tmp_path, toy):
    model, examples = toy("opt")
    with pytest.raises(ReprlabError, match="lists: 4 passages of a group, and a window of 3; raise it"):
        run_lists(tmp_path / "short", model, examples, {**TOY, "window": 3})
    assert not (tmp_path / "short/models").exists()


def test_a_killed_training_of_lists_goes_on_to_the_same_bytes(tmp_path, monkeypatch, toy):
    model, examples = toy("opt")
    whole = run_lists(tmp_path / "whole", model, examples, TOY)
    engine_train, calls = passes.train, SimpleNamespace(count=0)

    def dying(network, batch_of, loss, settings, **rest):
        calls.count += 1

        def until(step, *more):
            if calls.count == 2 and step == 3:
                raise KeyboardInterrupt
            return batch_of(step, *more)

        return engine_train(network, until, loss, settings, **{**rest, "save_every": 1})

    monkeypatch.setattr(passes, "train", dying)
    with pytest.raises(KeyboardInterrupt):
        run_lists(tmp_path / "killed", model, examples, TOY)
    found = run_lists(tmp_path / "killed", model, examples, TOY)
    assert calls.count == 3, "what was finished before is not trained again"
    for name, path in found.items():
        assert path.read_bytes() == whole[name].read_bytes(), f"{name} is another after a kill"
