"""Prices by hand, a ledger that is opened again, answers of a served model, and batches by length."""

import json
import socket
import urllib.request

import numpy as np
import pytest
import torch
from finetune_fixtures import make_t5, make_tokenizer
from music_samples import make_language_model
from reprlab.inference import served_model
from reprlab.inference.causal_batches import padded_batches, shot_prompts
from reprlab.inference.causal_generation import constrained, greedy
from reprlab.inference.choice_likelihood import Question, log_likelihoods
from reprlab.inference.forced_beams import ForcedBeams
from reprlab.inference.generation import EncoderBatch, generate, teacher_forced
from reprlab.inference.label_scores import label_scores
from reprlab.inference.served_model import ServedModel, serving
from reprlab.inference.similar_batches import similar_batches
from reprlab.inference.spending import Ledger, Prices, prompt_tokens
from reprlab.models.build import load_model
from reprlab.runtime.errors import ReprlabError
from reprlab.text.tokenizer_folder import open_tokenizer

REQUEST = {"messages": [{"role": "user", "content": "abcde"}], "max_tokens": 10}
"""At most 5 + 16 tokens of a prompt, and 10 of an answer."""


def test_both_kinds_of_tokens_have_their_price():
    assert Prices(3.0, 15.0).dollars(1_000_000, 2_000_000) == 33
    assert Prices(2.0, 0.0).dollars(500_000, 7) == 1 and Prices(0.0, 4.0).dollars(7, 250_000) == 1


def test_tokens_of_a_prompt_are_expected_and_bounded():
    mixed = [{"content": "abcdeéß"}, {"content": [{"text": "abcd"}, {"type": "image_url"}]}]
    # Five of ASCII are two tokens, two others two; four are one, and the image as billed.
    assert prompt_tokens(mixed, 85) == 2 + 2 + 1 + 85
    assert prompt_tokens(mixed, 85, most=True) == 5 + 4 + 8 + 4 + 85 + 8 + 8


def test_a_ledger_counts_what_is_paid_and_what_is_at_work(tmp_path):
    place = tmp_path / "new/paid.jsonl"
    # A request costs at most 21 + 10 * 2 = 41 millionths of a million: dollars here.
    ledger = Ledger(place, Prices(1e6, 2e6), 100.0, "budget")
    ledger.reserve(REQUEST)
    ledger.reserve(REQUEST)
    with pytest.raises(ReprlabError, match=r"budget: \$0.0000 are spent, and the next request may cost \$41.0000"):
        ledger.reserve(REQUEST)
    ledger.settle(REQUEST, (4, 3))
    assert (ledger.spent, ledger.requests, ledger.prompt_tokens, ledger.answer_tokens) == (10, 1, 4, 3)
    ledger.reserve(REQUEST)
    ledger.settle(REQUEST, None)
    assert ledger.spent == 51
    with pytest.raises(ReprlabError, match="are spent"):
        ledger.reserve(REQUEST)
    ledger.settle(REQUEST, (0, 0))
    assert ledger.spent == 92 and [json.loads(line) for line in place.read_text().splitlines()] == [
        {"prompt": 4, "answer": 3}, {"prompt": 21, "answer": 10}, {"prompt": 21, "answer": 10},
    ]  # fmt: skip
    again = Ledger(place, Prices(1e6, 2e6), 100.0, "budget")
    assert (again.spent, again.requests, again.prompt_tokens, again.answer_tokens) == (92, 3, 46, 23)
    with pytest.raises(ReprlabError, match=r"\$92.0000 are spent"):
        again.reserve(REQUEST)
    free = Ledger(tmp_path / "free.jsonl", Prices(1e6, 2e6), None, "none")
    for _ in range(9):
        free.reserve(REQUEST)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_language_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def loud(folder):
    """Weights ten times as large: each prompt has an answer of its own."""
    served = ServedModel(folder)
    with torch.no_grad():
        for one in served.model.parameters():
            if one.dim() > 1:
                one.mul_(6)
    return served


def one_by_one(model, prompt, count, end):
    """The greedy tokens, without a cache."""
    ids = list(prompt)
    for _ in range(count):
        with torch.no_grad():
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
        if ids[-1] == end:
            break
    return ids[len(prompt) :]


def test_a_served_answer_is_the_greedy_one(loud):
    ends = loud._stop["eos_token_id"]
    for number in range(3):
        talk = [{"role": "user", "content": f"Say {number}"}]
        for most in (1, 6):
            text, asked, written, cut = loud.answer(talk, most)
            known = one_by_one(loud.model, loud.prompt(talk), most, ends[0])
            assert asked == len(loud.prompt(talk)) and written == len(known)
            assert text == loud.tokenizer.decode(known, skip_special_tokens=True)
            assert cut == (known[-1] not in ends)


def test_the_endpoint_says_what_was_used_and_is_gone_with_its_context(folder, monkeypatch):
    servers = []

    class Kept(served_model._Server):
        """It is not closed because nothing holds it any more."""

        def __init__(self, model):
            super().__init__(model)
            servers.append(self)

    monkeypatch.setattr(served_model, "_Server", Kept)
    with serving(folder) as endpoint:
        body = json.dumps({"model": "m", "messages": REQUEST["messages"], "max_tokens": 4}).encode()
        asked = urllib.request.Request(f"{endpoint.address}/chat/completions", body)
        with urllib.request.urlopen(asked) as response:
            found = json.load(response)
        port = int(endpoint.address.split(":")[2].split("/")[0])
    used, (choice,) = found["usage"], found["choices"]
    assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"] > used["completion_tokens"] > 0
    assert choice["index"] == 0 and choice["message"]["role"] == "assistant" and found["model"] == "m"
    assert choice["finish_reason"] == ("length" if used["completion_tokens"] == 4 else "stop")
    assert len(servers) == 1
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=2).close()


PROMPTS = [[5, 6, 7, 8, 9, 10, 11], [12, 13], [14, 15, 16, 17], [18], [19, 20, 21]]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_rows_of_any_batch_are_what_they_are_alone(loud, size):
    model = loud.model
    end = int(loud.tokenizer.eos_token_id)
    batches = list(padded_batches(PROMPTS, size, 0, "cpu"))
    assert sorted(row for batch in batches for row in batch.rows.tolist()) == list(range(5))
    for batch in batches:
        with torch.no_grad():
            logits = batch.forward(model).logits[:, -1]
        for place, (row, own) in enumerate(zip(batch.rows.tolist(), logits, strict=True)):
            length = len(PROMPTS[row])
            # Rotary positions are relative and would hide a shift.
            assert batch.positions[place, -length:].tolist() == list(range(length))
            assert batch.mask[place].tolist() == [0] * (batch.ids.shape[1] - length) + [1] * length
            with torch.no_grad():
                alone = model(torch.tensor([PROMPTS[row]])).logits[0, -1]
            assert torch.allclose(own, alone, atol=1e-3)
    found = greedy(model, padded_batches(PROMPTS, size, 0, "cpu"), 5, len(PROMPTS), end)
    for prompt, ids in zip(PROMPTS, found, strict=True):
        known = one_by_one(model, prompt, 5, end)
        assert ids == (known[:-1] if known[-1] == end else known)


class Sure(torch.nn.Module):
    """A model whose likeliest token has a probability of nearly one."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, **options):
        output = self.model(**options)
        output.logits = 100 * output.logits
        return output


@pytest.mark.parametrize("size", [2, 5])
def test_searches_of_a_batch_end_each_in_its_own_time(loud, size):
    """The word that the first prompt wants is its next token; two others must go on after that search is done."""
    end, model = int(loud.tokenizer.eos_token_id), Sure(loud.model)
    words = [one_by_one(loud.model, PROMPTS[row], count, end) for row, count in enumerate((1, 3, 2))]
    options = {"beams": 1, "max_new_tokens": 4, "end": end}
    alone = [constrained(model, padded_batches([one], 1, 0, "cpu"), words, rows=1, **options)[0] for one in PROMPTS]
    assert alone[:3] == [0, 1, 2]
    assert constrained(model, padded_batches(PROMPTS, size, 0, "cpu"), words, rows=5, **options) == alone


def test_words_are_compared_by_the_mean_of_their_tokens():
    search = ForcedBeams([[1], [2, 3]], 2, 2, 0)
    scores = torch.full((2, 5), -9.0)
    scores[:, 1], scores[:, 2], scores[:, 3] = -1.2, -1.0, -1.1
    assert search.advance(scores)[0] == (0, 2) and not search.is_done
    search.advance(scores)
    # (1.0 + 1.1) / 2 is less than 1.2, though the sum is more.
    assert search.is_done and search.best() == 1


class Watched(torch.nn.Module):
    """A model that notes whether what it does is remembered for a gradient."""

    def __init__(self, model):
        super().__init__()
        self.model, self.seen = model, set()
        self.config, self.dtype = model.config, model.dtype
        model.register_forward_pre_hook(lambda *_: self.seen.add(torch.is_grad_enabled()))

    def forward(self, **options):
        return self.model(**options)

    def generate(self, **options):
        return self.model.generate(**options)

    def get_encoder(self):
        def encode(**options):
            self.seen.add(torch.is_grad_enabled())
            return self.model.get_encoder()(**options)

        return encode


def test_nothing_that_is_only_answered_is_remembered_for_a_gradient(folder, tmp_path):
    text = {"words": [[50], [60, 61]], "beams": 2, "max_new_tokens": 2, "rows": 5, "end": 0}
    answers = {
        "greedy": lambda model: greedy(model, padded_batches(PROMPTS, 2, 0, "cpu"), 2, 5, 0),
        "constrained": lambda model: constrained(model, padded_batches(PROMPTS, 2, 0, "cpu"), **text),
        "scores": lambda model: label_scores(model, padded_batches(PROMPTS, 2, 0, "cpu"), [[3], [4]], 5),
        "likelihoods": lambda model: list(log_likelihoods(model, [Question([1, 2], [[3], [4]])], 2, 0, "cpu")),
    }
    for name, answer in answers.items():
        watched = Watched(load_model(folder))
        answer(watched)
        assert watched.seen == {False}, name
    make_t5(tmp_path / "t5", make_tokenizer(tmp_path / "tokenizer"))
    ids = torch.tensor([[5, 6, 1], [7, 1, 0]])
    batch = EncoderBatch(np.array([1, 0]), ids, ids.ne(0).long(), ids.ne(0).long())
    labels = torch.tensor([[5, 1], [6, -100]])
    for answer in (
        lambda model: generate(model, [batch], 2, 2),
        lambda model: teacher_forced(model, [(batch, labels)], 2),
    ):
        watched = Watched(load_model(tmp_path / "t5"))
        answer(watched)
        assert watched.seen == {False}


@pytest.mark.parametrize("size", [1, 4, 9])
def test_likelihoods_are_sums_over_the_tokens_of_each_choice_alone(loud, size):
    choices = [[[30, 31], [32]], [[33], [34, 35, 36], [37, 38]], [[39]], [[40], [41]], [[42, 43], [44, 45]]]
    questions = [Question(prompt, own) for prompt, own in zip(PROMPTS, choices, strict=True)]
    found = log_likelihoods(loud.model, questions, size, 0, "cpu")
    for question, sums in zip(questions, found, strict=True):
        for choice, value in zip(question.choices, sums, strict=True):
            with torch.no_grad():
                scores = loud.model(torch.tensor([question.prompt + choice])).logits[0].log_softmax(-1)
            first = len(question.prompt) - 1
            assert value == pytest.approx(sum(float(scores[first + n, one]) for n, one in enumerate(choice)), abs=1e-3)


def test_solved_examples_are_left_out_from_the_left_until_a_prompt_fits(folder):
    tokenizer = open_tokenizer(folder)
    shots = [("aa", "bb"), ("cc", "dd")]
    whole = shot_prompts(tokenizer, shots, ["q"], 10**6)
    text = tokenizer.decode(whole.ids[0])
    assert whole.dropped == 0 and text.index("aa") < text.index("cc") < text.rindex("q") == len(text) - 1
    long = "q" * 7 + "r" * 5 + "s" * 5
    one = shot_prompts(tokenizer, shots, ["q", long], len(whole.ids[0]))
    assert one.ids[0] == whole.ids[0] and 1 <= one.dropped <= 2
    none = shot_prompts(tokenizer, shots, ["q", long], 4)
    alone = shot_prompts(tokenizer, [], [long], 10**6).ids[0]
    assert none.ids[1] == alone[-4:] and len(none.ids[1]) == 4 < len(alone)
    assert tokenizer.decode(none.ids[0]) == "q" and none.dropped == 4


def test_batches_on_a_cpu_hold_as_many_tokens_as_fit():
    lengths = np.array([5, 3000, 1024, 1024, 700, 1, 0])
    assert [rows.tolist() for rows in similar_batches(lengths, 2, "cpu")] == [[1], [2, 3], [4, 0], [5, 6]]
    assert next(rows.tolist() for rows in similar_batches(lengths, 7, "cuda"))[0] == 1
