"""Completion fine-tuning and prediction of amuro-char: masks, label words, batches, generation, bootstrap."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from reprlab.evaluation import completion_answers
from reprlab.evaluation.completion_answers import answer, cell_prompts
from reprlab.evaluation.completion_scores import bootstrap_mean, score_row
from reprlab.evaluation.completion_settings import CompletionScoring
from reprlab.evaluation.metrics import rouge_l
from reprlab.inference import causal_generation
from reprlab.inference.causal_batches import padded_batches, shot_prompts
from reprlab.inference.causal_generation import constrained, greedy
from reprlab.inference.choice_likelihood import Question, choice_ids, log_likelihoods, normalised
from reprlab.inference.label_scores import label_candidates, label_scores, next_logits
from reprlab.inference.shared_start import shared_start
from reprlab.models.build import build_from_config
from reprlab.objectives.causal_lm import IGNORED, Objective, Settings, causal_loss
from reprlab.registry.models import load_models
from reprlab.runtime.errors import ReprlabError
from reprlab.text.byte_pairs import train_byte_pairs
from reprlab.text.completions import write_completions
from reprlab.text.prompt_formats import LABELS, answer_fields, joined, label_in_text, render
from reprlab.text.vocabulary import Vocabulary
from reprlab.training.completion_settings import CompletionTuningSettings
from reprlab.training.completion_texts import encode_completions
from reprlab.training.completion_tuning import engine_settings
from scipy import stats
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

MODELS = load_models(Path(__file__).parents[2] / "config" / "models.yaml")
TEXT = [
    "The quick brown fox jumps over the lazy dog, and nobody knows why it does so every single day.",
    "No entailment is neutral, and a contradiction is no neutral thing; yes, it is so.",
    "### Input_1: a ### Input_2: b ### Inference: entailment neutral contradiction yes no",
] * 3
VOCABULARY = Vocabulary(360, 1, 1)
PROMPT = {
    "prompt": "### Input_1: the fox\n ### Input_2: the dog\n ### Inference: ",
    "completion": "neutral",
    "turns": [],
}


@pytest.fixture(scope="module")
def tokenizer():
    return train_byte_pairs(TEXT, VOCABULARY)


@pytest.fixture(scope="module")
def model():
    return build_from_config(MODELS["olmo_nano"], VOCABULARY.padded_size, seed=3).eval()


def ids_of(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


# --- training texts -------------------------------------------------------------------------------------------------


def test_targets_are_the_completion_with_the_end_token(tokenizer):
    """Spec 5.7: as many labels as the completion has tokens, and the end token."""
    made = encode_completions(tokenizer, [PROMPT], 200)
    wanted = [label for label in made.labels[0] if label != IGNORED]
    # The space at the end of the prompt belongs to the first token of the completion.
    assert wanted == [*ids_of(tokenizer, " neutral"), tokenizer.eos_token_id]
    assert made.ids[0] == [*ids_of(tokenizer, PROMPT["prompt"] + "neutral"), tokenizer.eos_token_id]
    assert tokenizer.decode(made.ids[0][: -len(wanted)]) == PROMPT["prompt"].rstrip()


def test_the_loss_does_not_see_labels_of_the_prompt(tokenizer, model):
    """Spec 5.7: only labels of the completion count; 'altered' prompt labels are ignored ones."""
    batch = encode_completions(tokenizer, [PROMPT], 200).batch([0], tokenizer.pad_token_id)
    loss, parts = causal_loss(model, batch["input_ids"], batch["labels"])
    logits = model(input_ids=batch["input_ids"]).logits[0, :-1].log_softmax(-1)
    labels = batch["labels"][0, 1:]
    places = torch.nonzero(labels != IGNORED)[:, 0]
    assert int(parts["count"]) == len(places)
    assert float(loss) == pytest.approx(float(-logits[places, labels[places]].mean()), rel=1e-5)


def test_padding_changes_no_loss(tokenizer, model):
    rows = [PROMPT, {**PROMPT, "prompt": PROMPT["prompt"] * 2}]
    both = encode_completions(tokenizer, rows, 300)
    alone = [causal_loss(model, *list(both.batch([row], 0).values())[:2])[1]["loss_sum"] for row in (0, 1)]
    batch = both.batch([0, 1], 0)
    assert float(causal_loss(model, batch["input_ids"], batch["labels"])[1]["loss_sum"]) == pytest.approx(
        float(sum(alone)), rel=1e-5
    )


def test_a_space_is_put_in_only_where_neither_side_has_one():
    assert [joined("a", "b"), joined("a ", "b"), joined("a", " b"), joined("a\n", "b"), joined("", "b")] == [
        "a b", "a b", "a b", "a\nb", "b",
    ]  # fmt: skip


def test_rows_without_a_target_are_dropped_and_counted(tokenizer):
    long = {**PROMPT, "prompt": "the lazy dog " * 40}
    made = encode_completions(tokenizer, [PROMPT, long], 60)
    assert (len(made), made.dropped) == (1, 1)
    with pytest.raises(ReprlabError, match="none of 1 rows has a target"):
        encode_completions(tokenizer, [long], 60)


def test_in_conversations_only_answers_and_their_ends_are_targets(tokenizer):
    made = encode_completions(tokenizer, [{"turns": ["why", "no", "so", "yes"]}], 200)
    text = "<|user|>\nwhy\n<|assistant|>\nno</s>\n<|user|>\nso\n<|assistant|>\nyes</s>\n"
    assert tokenizer.decode(made.ids[0]) == text
    end = tokenizer.eos_token_id
    assert [label for label in made.labels[0] if label != IGNORED] == [
        *ids_of(tokenizer, "no"), end, *ids_of(tokenizer, "yes"), end,
    ]  # fmt: skip


def test_the_schedule_follows_the_paper():
    settings = CompletionTuningSettings(
        learning_rates=[2e-6], epochs=3, batch_size=8, accumulation=8, warmup_ratio=0.03, weight_decay=0.0,
        dtype="bfloat16", max_length=2048, seed=42,
    )  # fmt: skip
    engine = engine_settings(settings, 2e-6, 6_000)
    assert (engine.steps, engine.schedule.warmup_steps, engine.schedule.name) == (2_250, 67, "linear")
    assert engine.optimizer.clip_norm is None


# --- prompts --------------------------------------------------------------------------------------------------------


def test_prompts_are_the_released_strings():
    """Spec 2.2 (table 5)."""
    pair = {"first": "A.", "second": "B."}
    assert render("nli", "default", pair) == "### Input_1: A.\n ### Input_2: B.\n ### Inference: "
    assert render("nli", "default", pair, "clean") == "### Input_1: A.\n### Input_2: B.\n### Inference: "
    assert render("paraphrase", "instruct", pair).startswith("Let\u2019s compare the two sentences: Sentence_1: A. ")
    three = answer_fields(["x", "y", "z"])
    assert three == {"answer": "Answer A: x Answer B: yAnswer C: z", "parts": "xyz"}
    assert answer_fields(["x", "y", "z"], "clean")["answer"] == "Answer A: x Answer B: y Answer C: z"
    assert answer_fields(["x"])["answer"] == "x"
    assert render("question", "instruct", {"context": "C", **three}) == (
        "Given the context: C And the answer: Answer A: x Answer B: yAnswer C: zGenerate a suitable question: "
    )
    assert render("summary", "io", {"document": "{braces}"}) == "{braces}"


@pytest.mark.parametrize(
    ("template", "text", "label"),
    [
        ("nli", "entailment, no contradiction", "contradiction"),
        ("nli", "neutral entailment", "neutral"),
        ("nli", "Entailment", ""),
        ("paraphrase", "yes or no", "no"),
        ("paraphrase", "another", "no"),  # the rule is upstream's, and so is its flaw
        ("paraphrase", "yes", "yes"),
        ("paraphrase", "maybe", ""),
    ],
)
def test_free_answers_are_read_in_upstreams_order(template, text, label):
    assert label_in_text(template, text) == label


def test_shots_are_dropped_from_the_left_until_a_prompt_fits(tokenizer):
    shots = [("first", "one"), ("second", "two"), ("third", "three")]
    whole = shot_prompts(tokenizer, shots, ["ask"], 500)
    assert tokenizer.decode(whole.ids[0]) == "first one\nsecond two\nthird three\nask"
    assert whole.dropped == 0
    room = len(ids_of(tokenizer, "second two\nthird three\nask"))
    less = shot_prompts(tokenizer, shots, ["ask", "ask"], room)
    assert tokenizer.decode(less.ids[1]) == "second two\nthird three\nask"
    assert less.dropped == 2
    assert len(shot_prompts(tokenizer, shots, ["ask " * 50], 10).ids[0]) == 10


# --- label words ----------------------------------------------------------------------------------------------------


def test_label_words_with_and_without_a_space(tokenizer):
    found = label_candidates(tokenizer, LABELS["nli"])
    for label, tokens in zip(LABELS["nli"], found, strict=True):
        assert set(tokens) == {ids_of(tokenizer, label)[0], ids_of(tokenizer, f" {label}")[0]}
    every = label_candidates(tokenizer, ["yes", "no"], all_subtokens=True)
    assert set(every[0]) == {*ids_of(tokenizer, "yes"), *ids_of(tokenizer, " yes")}


def test_labels_that_share_a_token_are_refused(tokenizer):
    shared = set.intersection(
        *({ids_of(tokenizer, one)[0], ids_of(tokenizer, f" {one}")[0]} for one in ("zebra", "zulu"))
    )
    named = tokenizer.convert_ids_to_tokens(min(shared))
    with pytest.raises(ReprlabError, match=re.escape(f"share the token {named!r}")):
        label_candidates(tokenizer, ["zebra", "zulu"])


def test_tokenprob_is_the_argmax_over_the_candidates(tokenizer, model):
    """Spec 5.8, with the invariance to a constant and left padding that gives what a batch of one gives."""
    texts = [ids_of(tokenizer, text) for text in ("the fox", "the lazy dog jumps over", "yes, it is", "no")]
    candidates = label_candidates(tokenizer, LABELS["paraphrase"])
    together = label_scores(model, padded_batches(texts, 4, 0, "cpu"), candidates, 4)
    alone = label_scores(model, padded_batches(texts, 1, 0, "cpu"), candidates, 4)
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-5)
    for row, text in enumerate(texts):
        logits = model(input_ids=torch.tensor([text])).logits[0, -1].detach().numpy()
        ids = [token for tokens in candidates for token in tokens]
        best = ids[int(np.argmax(logits[ids]))]
        assert best in candidates[int(together[row].argmax())]
        np.testing.assert_allclose([logits[tokens].max() for tokens in candidates], together[row], rtol=1e-4, atol=1e-5)
    assert ((together + 5).argmax(1) == together.argmax(1)).all()


class Scripted(torch.nn.Module):
    """A model that wants certain tokens next, whatever came before."""

    def __init__(self, model, logits):
        super().__init__()
        self.model, self.wanted = model, logits

    def forward(self, **options):
        output = self.model(**options)
        output.logits = torch.zeros_like(output.logits) + self.wanted
        return output


def test_tokenprob_agrees_with_free_where_the_likeliest_token_is_a_candidate(tokenizer, model):
    """Spec 5.8."""
    for label in LABELS["paraphrase"]:
        word = ids_of(tokenizer, f" {label}")
        logits = torch.zeros(VOCABULARY.padded_size)
        logits[word[0]] = 9.0
        scripted = Scripted(model, logits)
        texts = [ids_of(tokenizer, "the fox"), ids_of(tokenizer, "the lazy dog")]
        candidates = label_candidates(tokenizer, LABELS["paraphrase"])
        scores = label_scores(scripted, padded_batches(texts, 2, 0, "cpu"), candidates, 2)
        assert [LABELS["paraphrase"][place] for place in scores.argmax(1)] == [label, label]
        found = greedy(scripted, padded_batches(texts, 2, 0, "cpu"), 1, 2, tokenizer.eos_token_id)
        assert found == [[word[0]], [word[0]]]


# --- generation -----------------------------------------------------------------------------------------------------


def test_greedy_batches_equal_single_prompts_and_the_library(tokenizer, model):
    texts = [ids_of(tokenizer, text) for text in ("the fox", "the lazy dog jumps over", "yes")]
    end = tokenizer.eos_token_id
    together = greedy(model, padded_batches(texts, 3, 0, "cpu"), 6, 3, end)
    assert together == greedy(model, padded_batches(texts, 1, 0, "cpu"), 6, 3, end)
    for text, found in zip(texts, together, strict=True):
        ids = torch.tensor([text])
        wanted = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=6,
            do_sample=False,
            eos_token_id=end,
            pad_token_id=0,
        )[0, len(text) :].tolist()
        assert found == (wanted[: wanted.index(end)] if end in wanted else wanted)


def test_generation_ends_at_the_end_token(tokenizer, model):
    logits = torch.zeros(VOCABULARY.padded_size)
    logits[tokenizer.eos_token_id] = 9.0
    texts = [ids_of(tokenizer, "the fox")]
    assert greedy(Scripted(model, logits), padded_batches(texts, 1, 0, "cpu"), 5, 1, tokenizer.eos_token_id) == [[]]


def test_constrained_beams_hold_a_word_and_batches_do_not_matter(tokenizer, model):
    words = [ids_of(tokenizer, variant) for label in LABELS["nli"] for variant in (label, f" {label}")]
    texts = [ids_of(tokenizer, text) for text in ("the fox", "the lazy dog jumps over", "yes")]
    options = {"beams": 5, "max_new_tokens": 5, "rows": 3, "end": tokenizer.eos_token_id}
    together = constrained(model, padded_batches(texts, 3, 0, "cpu"), words, **options)
    assert together == constrained(model, padded_batches(texts, 1, 0, "cpu"), words, **options)
    assert all(0 <= place < len(words) for place in together)


def test_constrained_finds_the_word_that_the_model_wants(tokenizer, model):
    words = [ids_of(tokenizer, variant) for label in LABELS["paraphrase"] for variant in (label, f" {label}")]
    texts = [ids_of(tokenizer, "the fox")]
    for place, word in enumerate(words):
        logits = torch.full((VOCABULARY.padded_size,), -20.0)
        logits[word] = 5.0
        found = constrained(
            Scripted(model, logits), padded_batches(texts, 1, 0, "cpu"), words, beams=5, max_new_tokens=5, rows=1,
            end=tokenizer.eos_token_id,
        )  # fmt: skip
        assert set(words[found[0]]) <= set(word), place


# --- choices --------------------------------------------------------------------------------------------------------


CHOICES = ["dog", "fox jumps over", "no", "dog and so"]


def likelihood_alone(model, prompt, choice):
    """The sum for one choice behind its prompt, in a run of its own and without padding."""
    ids = prompt + choice
    with torch.inference_mode():
        scores = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    return sum(float(scores[place - 1, ids[place]]) for place in range(len(prompt), len(ids)))


def assert_as_alone(model, questions, size):
    for question, sums in zip(questions, log_likelihoods(model, questions, size, 0, "cpu"), strict=True):
        expected = [likelihood_alone(model, question.prompt, choice) for choice in question.choices]
        np.testing.assert_allclose(sums, expected, rtol=1e-4)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_log_likelihoods_are_those_of_each_choice_alone(tokenizer, model, size):
    prompts = [ids_of(tokenizer, text) for text in ("the lazy", "nobody knows why the lazy dog", "Z")]
    choices = choice_ids(tokenizer, CHOICES)
    assert len(set(map(len, choices))) > 1
    # Numbers of choices differ, and a choice may stand twice.
    questions = [Question(prompt, choices[: 2 + place] + choices[:1]) for place, prompt in enumerate(prompts)]
    assert_as_alone(model, questions, size)


def test_choices_of_one_token_run_only_the_question(tokenizer, model):
    prompt, tokens = ids_of(tokenizer, "nobody knows why the lazy dog"), [[5], [9], [70]]
    read = []

    class Counting(torch.nn.Module):
        dtype = torch.float32

        def forward(self, **options):
            read.append((options["input_ids"].shape[1], options["logits_to_keep"]))
            return model(**options)

    (sums,) = log_likelihoods(Counting(), [Question(prompt, tokens)], 4, 0, "cpu")
    assert read == [(len(prompt), 1)]
    np.testing.assert_allclose(sums, [likelihood_alone(model, prompt, choice) for choice in tokens], rtol=1e-4)


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("architecture", ["llama", "gpt2"])
def test_choices_do_not_see_each_other_in_other_decoders(tokenizer, architecture, attention):
    torch.manual_seed(1)
    common = {"vocab_size": VOCABULARY.padded_size, "attn_implementation": attention}
    if architecture == "llama":
        other = LlamaForCausalLM(LlamaConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                             num_attention_heads=4, num_key_value_heads=2, **common))  # fmt: skip
    else:
        other = GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=128, **common))
    prompts = [ids_of(tokenizer, text) for text in ("the lazy", "nobody knows why the lazy dog")]
    assert_as_alone(other.eval(), [Question(prompt, choice_ids(tokenizer, CHOICES)) for prompt in prompts], 8)


# --- a start that all prompts share ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(tokenizer):
    """Prompts of several lengths behind the same solved examples."""
    shots = " ".join(TEXT[:2]) + "\n"
    prompts = ("the fox", "nobody knows why the lazy dog", "no entailment is a thing", "Z", "the dog, and so")
    return [ids_of(tokenizer, shots + prompt) for prompt in prompts]


def test_a_shared_start_is_all_that_the_texts_share(model, shared):
    start = shared_start(model, shared, "cpu")
    assert start is not None
    assert len({tuple(text[: start.length]) for text in shared}) == 1
    assert len({text[start.length] for text in shared}) > 1
    assert shared_start(model, [shared[0]] * 2, "cpu").length == len(shared[0]) - 1
    # A prompt that lost its examples, short texts and a single text share nothing.
    assert shared_start(model, [*shared, shared[0][3:]], "cpu") is None
    assert shared_start(model, [[1, 2, 3]] * 4, "cpu") is None
    assert shared_start(model, shared[:1], "cpu") is None


@pytest.mark.parametrize("size", [1, 3, 5])
def test_a_shared_start_changes_no_logits(tokenizer, model, shared, size):
    start = shared_start(model, shared, "cpu")
    for batch in padded_batches(shared, size, 0, "cpu", start):
        assert batch.ids.shape[1] + start.length == batch.mask.shape[1]
        with torch.inference_mode():
            found = next_logits(model, batch)
            for row, logits in zip(batch.rows.tolist(), found, strict=True):
                alone = model(input_ids=torch.tensor([shared[row]])).logits[0, -1]
                torch.testing.assert_close(logits, alone, rtol=1e-4, atol=1e-5)


def test_a_shared_start_changes_no_answer(tokenizer, model, shared):
    start, end = shared_start(model, shared, "cpu"), tokenizer.eos_token_id
    words = [ids_of(tokenizer, word) for word in LABELS["nli"]]
    options = {"beams": 3, "max_new_tokens": 5, "rows": 5, "end": end}
    for size in (2, 5):
        with_start = [padded_batches(shared, size, 0, "cpu", start) for _ in range(2)]
        without = [padded_batches(shared, size, 0, "cpu") for _ in range(2)]
        assert greedy(model, with_start[0], 6, 5, end) == greedy(model, without[0], 6, 5, end)
        assert constrained(model, with_start[1], words, **options) == constrained(model, without[1], words, **options)


def test_choices_behind_a_shared_start(tokenizer, model, shared):
    assert shared_start(model, shared, "cpu") is not None
    assert_as_alone(model, [Question(ids, choice_ids(tokenizer, CHOICES)) for ids in shared], 8)


def test_the_examples_are_run_once(tokenizer, model, tmp_path):
    """What the model reads in a cell: the start, and of each question what is its own."""
    path, settings = summary_settings(tmp_path)
    rows = [
        {**PROMPT, "id": str(number), "role": "test", "fmt": "default", "prompt": f"### Input_1: {number} "}
        for number in range(6)
    ]
    write_completions(path, [{**row, "choices": None, "answer": None} for row in rows],
                      {"title": "a", "template": "nli", "kind": "classification"})  # fmt: skip
    cell = settings.cells[0].model_copy(update={"shots": 4, "method": "tokenprob"})
    settings = settings.model_copy(update={"max_length": 400, "cells": [cell]})
    part = cell_prompts(path, settings.cells[0], tokenizer, settings)
    read = []

    class Counting(torch.nn.Module):
        def forward(self, **options):
            read.append(tuple(options["input_ids"].shape))
            return model(**options)

        def parameters(self, recurse=True):
            return model.parameters()

    answer(Counting(), part, tokenizer, settings, 3)
    start = read[0][1]
    assert read[0][0] == 1 and start > 30
    assert [batch for batch, _ in read[1:]] == [3, 3]
    assert max(width for _, width in read[1:]) == max(map(len, part.encoded.ids)) - start < 20


@pytest.mark.parametrize(("dtype", "every"), [("float32", False), ("bfloat16", True)])
def test_arithmetic_and_tokens_of_labels_are_those_of_the_settings(
    tokenizer, model, tmp_path, monkeypatch, dtype, every
):
    path, settings = summary_settings(tmp_path, dtype=dtype, all_subtokens=every)
    row = {**PROMPT, "id": "0", "role": "test", "fmt": "default", "choices": None, "answer": None}
    write_completions(path, [row], {"title": "a", "template": "paraphrase", "kind": "classification"})
    cell = settings.cells[0].model_copy(update={"method": "tokenprob"})
    seen, asked = [], []

    def noted(network, batches, candidates, rows):
        asked.append(candidates)
        return label_scores(network, batches, candidates, rows)

    monkeypatch.setattr(completion_answers, "label_scores", noted)
    hook = model.register_forward_hook(lambda *_: seen.append(torch.is_autocast_enabled("cpu")))
    answer(model, cell_prompts(path, cell, tokenizer, settings), tokenizer, settings, batch=1)
    hook.remove()
    assert set(seen) == {dtype == "bfloat16"}
    assert asked == [label_candidates(tokenizer, LABELS["paraphrase"], all_subtokens=every)]
    assert label_candidates(tokenizer, LABELS["paraphrase"], all_subtokens=not every) != asked[0]


def test_normalisation():
    sums, tokens, characters = np.array([-4.0, -9.0]), np.array([2, 3]), np.array([8, 9])
    assert normalised(sums, tokens, characters, "none").tolist() == [-4, -9]
    assert normalised(sums, tokens, characters, "tokens").tolist() == [-2, -3]
    assert normalised(sums, tokens, characters, "characters").tolist() == [-0.5, -1]


# --- scores ---------------------------------------------------------------------------------------------------------


@given(st.floats(0, 1), st.integers(1, 40))
def test_constant_scores_have_no_error(value, n):
    """Spec 5.9."""
    found = bootstrap_mean([value] * n, 50, 0)
    assert found["std"] == pytest.approx(0, abs=1e-12)
    assert found["performance_boot"] == pytest.approx(found["value"])


def test_the_standard_error_of_accuracy_is_the_binomial_one():
    """Spec 5.9."""
    found = bootstrap_mean([1.0] * 60 + [0.0] * 140, 3_000, 0)
    assert found["value"] == 0.3
    assert found["std"] == pytest.approx(math.sqrt(0.3 * 0.7 / 200), rel=0.05)
    assert found["low"] < 0.3 < found["high"]
    assert found["performance_boot"] == pytest.approx(0.3, abs=0.005)
    assert (found["low"], found["high"]) == pytest.approx(tuple(stats.binomtest(60, 200).proportion_ci(method="exact")))
    assert bootstrap_mean([1.0] * 20, 100, 0)["low"] == pytest.approx(0.025 ** (1 / 20))


def test_rouge_l():
    """Spec 5.10."""
    assert rouge_l([["the fox jumps"]] * 3, ["the fox jumps", "a dog", ""]) == [1.0, 0.0, 0.0]


def summary_settings(tmp_path, **more):
    """Settings for one generated summary, whose prompts are written."""
    row = {
        "id": "0", "role": "test", "fmt": "default", "prompt": "a", "completion": "b", "turns": [], "choices": [],
        "answer": -1,
    }  # fmt: skip
    path = tmp_path / "prompts.parquet"
    write_completions(path, [row], {"title": "Data", "template": "summary", "kind": "generation"})
    return path, CompletionScoring.model_validate(
        {
            "family": "f", "train": "base", "models": [{"name": "main", "step": 1}], "prompts": {"xsum": str(path)},
            "cells": [{"eval": "xsum", "shots": 0, "method": "generate"}], "max_length": 64, "max_new_tokens": 9,
            "free_tokens": 5, "beams": 2, "bootstrap": 10, "seed": 0, "dtype": "float32", **more,
        }
    )  # fmt: skip


def test_a_method_must_fit_the_set(tokenizer, tmp_path):
    path, settings = summary_settings(tmp_path)
    with pytest.raises(ReprlabError, match="does not fit its kind"):
        cell_prompts(path, settings.cells[0].model_copy(update={"method": "tokenprob"}), tokenizer, settings)
    shots = settings.cells[0].model_copy(update={"shots": 2})
    with pytest.raises(ReprlabError, match="2 shots are asked for"):
        cell_prompts(path, shots, tokenizer, settings)


@pytest.mark.parametrize(("stops", "text"), [(False, "the fox\nand the dog"), (True, "the fox")])
def test_a_generated_text_is_cut_at_its_line_end_only_if_asked(tokenizer, model, tmp_path, monkeypatch, stops, text):
    """Switch stop_at_newline: upstream keeps what follows."""
    path, settings = summary_settings(tmp_path, stop_at_newline=stops)
    monkeypatch.setattr(causal_generation, "greedy", lambda *_: [ids_of(tokenizer, "the fox\nand the dog")])
    found = answer(model, cell_prompts(path, settings.cells[0], tokenizer, settings), tokenizer, settings, batch=1)
    assert found.answers == [text]
    assert found.tokens == [len(ids_of(tokenizer, "the fox\nand the dog"))]


# --- decoders -------------------------------------------------------------------------------------------------------


def test_the_causal_objective_ignores_padding(model):
    objective = Objective(Settings(), VOCABULARY, 8, 8)
    ids = np.array([[5, 6, 7, 8], [9, 10, 0, 0]], dtype=np.int32)
    batch = objective.collate(ids, ids, np.array([4, 2]), np.random.default_rng(0))
    assert batch["labels"].tolist() == [[5, 6, 7, 8], [9, 10, IGNORED, IGNORED]]
    _, parts = objective.loss(model, {name: torch.from_numpy(array) for name, array in batch.items()})
    assert int(parts["count"]) == 3 + 1


def test_byte_pairs_lose_nothing_and_come_out_the_same(tokenizer):
    text = "  Two  spaces,\n a line end and \u00fcml\u00e4ut \u2014 unseen.\n"
    assert tokenizer.decode(ids_of(tokenizer, text)) == text
    assert train_byte_pairs(TEXT, VOCABULARY).get_vocab() == tokenizer.get_vocab()
    assert len(tokenizer) == VOCABULARY.size
    with pytest.raises(ReprlabError, match="byte-level pieces"):
        train_byte_pairs(["short"], Vocabulary(4_000, 1, 1))


def test_padding_at_the_left_gives_the_logits_of_a_single_prompt(tokenizer, model):
    texts = [ids_of(tokenizer, "no"), ids_of(tokenizer, "the quick brown fox jumps over the lazy dog")]
    (batch,) = padded_batches(texts, 2, 0, "cpu")
    with torch.inference_mode():
        found = next_logits(model, batch)
        for row, logits in zip(batch.rows.tolist(), found, strict=True):
            alone = model(input_ids=torch.tensor([texts[row]])).logits[0, -1]
            torch.testing.assert_close(logits, alone, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["generation", "classification"])
def test_shares_of_a_row_are_percent(kind):
    """Of four answers one is empty, or one of no label; three of the four gold labels are the first one."""
    template, labels = next(iter(LABELS.items()))
    gold = [labels[0]] * 3 + [labels[1]]
    found = [labels[0], labels[1], "" if kind == "classification" else " ", labels[1]]
    cell = SimpleNamespace(eval="e", fmt="f", shots=2, method="m")
    prompts = SimpleNamespace(
        cell=cell, rows=range(4), kind=kind, gold=gold, title="T", template=template, encoded=SimpleNamespace(dropped=1)
    )
    settings = SimpleNamespace(
        normalisation={}, bootstrap=20, seed=0, family="x", train="t", notes={"e": "a note"}, tuning_seed=42
    )
    row = score_row(
        settings, SimpleNamespace(name="n", step=5, tokens=9), prompts,
        SimpleNamespace(answers=found, tokens=[1, 2, 3, 2]), {"learning_rate": 0.1, "rows": 7, "steps": 3},
    )  # fmt: skip
    assert (row["lr"], row["train_rows"], row["steps"], row["seed"], row["n"]) == (0.1, 7, 3, 42, 4)
    assert (row["shots"], row["dropped_shots"], row["note"], row["step"]) == (2, 1, "a note", 5)
    if kind == "generation":
        assert (row["metric"], row["empty_share"], row["mean_output_tokens"]) == ("rougeL", 25, 2)
        assert row["majority"] is row["outside_labels"] is row["histogram"] is None
    else:
        assert (row["metric"], row["value"], row["majority"], row["outside_labels"]) == ("accuracy", 50, 75, 25)
        assert json.loads(row["histogram"]) == {labels[0]: 1, labels[1]: 2, "none": 1} | dict.fromkeys(labels[2:], 0)
        assert row["empty_share"] is row["mean_output_tokens"] is None
