"""What stands around the texts of triples and tasks (specification of L3Prune, sections 2, 3 and 8.10)."""

import json
from pathlib import Path

import numpy as np
import pytest
from reprlab.config.load import load_config
from reprlab.data.schema import write_rows
from reprlab.planning.paper_plans import make_plan
from reprlab.runtime.errors import ReprlabError
from reprlab.sentences import triples as triples_module
from reprlab.sentences.export import needs_our_module
from reprlab.sentences.settings import EncoderSettings, TextForm, TripleTexts
from reprlab.sentences.texts import encode_texts
from reprlab.sentences.triples import open_triples, write_triples
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

ROOT = Path(__file__).parents[2]
SLUG = "overparameterized-encoders"
SIZES = {"first": 5, "second": 2, "third": 1}
INSTRUCTIONS = {"first": ["find the cat", "find the river"], "third": ["the house", "the letters", "word"]}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("triples")
    known = ["<pad>", "user", ":", ";", "ask", "yes", "no", "end", *SIZES, *"01234"]
    known += sorted({word for turns in INSTRUCTIONS.values() for turn in turns for word in turn.split()})
    words = Tokenizer(models.WordLevel({word: n for n, word in enumerate(dict.fromkeys(known))}, unk_token="<pad>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    files = []
    for name, size in SIZES.items():
        files.append(folder / name / "examples.parquet")
        files[-1].parent.mkdir()
        rows = [
            {"id": f"{n}", "group": f"{n}", "split": "train", "context": "", "question": f"ask {name} {n}",
             "choices": [f"no {name} {n}", f"yes {name} {n}", "further"], "answer": 1}
            for n in range(size)
        ]  # fmt: skip
        write_rows(files[-1], rows, "choice", {"name": name, "title": name})
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>"), files


def read(place, folder, **more):
    """Each text of the triples as it is read, and its part that is pooled."""
    tokenizer, files = place
    form = TextForm(before="user: ", after=" end", begin=False)
    write_triples(folder, files, tokenizer, TripleTexts(form=form, **more))
    triples = open_triples(folder)
    ids, starts = triples.texts.ids, triples.texts.starts
    rows = [ids.flat[ids.offsets[n] : ids.offsets[n + 1]] for n in range(len(ids))]
    assert triples.count == sum(SIZES.values()) and triples.sizes == SIZES
    return triples, [
        (words(tokenizer, row[:at]), words(tokenizer, row[at:])) for row, at in zip(rows, starts, strict=True)
    ]


def words(tokenizer, ids):
    return " ".join(tokenizer.convert_ids_to_tokens(ids))


def asked(name, n):
    turns = INSTRUCTIONS.get(name)
    return f"user : {turns[n % len(turns)]} ;" if turns else "user :"


@pytest.mark.parametrize("at_once", [2, 3, 5, 100])
@pytest.mark.parametrize("both", [[], ["first"], ["first", "second", "third"]])
def test_instructions_take_turns_and_stand_before_documents_where_named(place, both, at_once, tmp_path, monkeypatch):
    """Two instructions alternate by row parity; upstream's code gives documents none, its text those of two sets."""
    monkeypatch.setattr(triples_module, "_TEXTS_AT_ONCE", at_once)
    _, found = read(place, tmp_path, instructions=INSTRUCTIONS, both_sides=both)
    expected = []
    for side, word in enumerate(("ask", "yes", "no")):
        for name, size in SIZES.items():
            for n in range(size):
                head = asked(name, n) if side == 0 or name in both else "user :"
                expected.append((head, f"{word} {name} {n} end"))
    assert found == expected


def test_a_batch_holds_the_three_texts_of_its_triples(place, tmp_path):
    triples, _ = read(place, tmp_path, instructions={})
    batch = triples.batch(np.array([7, 2]))
    tokenizer = place[0]
    shown = [
        words(tokenizer, ids[mask.bool()].tolist())
        for ids, mask in zip(batch["input_ids"], batch["text_mask"], strict=True)
    ]
    named = ("third 0", "first 2")
    assert shown == [f"{word} {name} end" for word in ("ask", "yes", "no") for name in named]
    # One data set a batch, as rows of all sets together.
    rows = triples.rows(2, 0, 0, mixed=False)
    of_set = np.repeat(np.arange(3), list(SIZES.values()))[rows]
    assert rows.shape == (2 + 1, 2) and (of_set[:, 0] == of_set[:, 1]).all()
    assert sorted(of_set[:, 0].tolist()) == [0, 0, 1] and len(set(rows.ravel().tolist())) == 6


@pytest.fixture(scope="module")
def paper():
    return make_plan(load_config(ROOT, {"scale": "paper", "build": [SLUG]})).jobs


def settings_of(jobs, stage, key):
    return json.loads(jobs[stage][key].settings["settings"])


def texts_of(jobs, stage, key):
    """How the triples are read that a job is given."""
    (own,) = [one for one in jobs["tokenize_triples"] if jobs[stage][key].inputs["triples"].rstrip("/").endswith(one)]
    return settings_of(jobs, "tokenize_triples", own)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("llama_3_8b", "<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"),
        ("mistral_7b", "[INST] ", " [/INST]"),
        ("qwen2_7b", "<|im_start|>user\n", "<|im_end|>"),
        ("phi3_4b", "", ""),
    ],
)
def test_the_published_recipe_is_planned(paper, name, before, after):
    """Section 3: templates, adapters, course, batches, temperature, seed, sample; whatever the plan passes on."""
    layers = 28 if name == "qwen2_7b" else 32
    form = {"before": before, "after": after, "begin": True, "max_length": 400, "whole": False, "stripped": True}
    form["echo"] = None
    texts = {"instructions": ALL_INSTRUCTIONS, "both_sides": [], "separator": "; ", "split": "train", "limit": None}
    for depth, kept in (("p00", layers), ("p90", layers // 10), ("small", "small"), ("large", "large")):
        found = settings_of(paper, "train_encoder", f"{name}/l3prune_{depth}")
        encoder, engine = found["encoder"], found["engine"]
        assert encoder["form"] == form and encoder["layers"] == kept
        assert (encoder["method"], encoder["pooling"], encoder["bidirectional"]) == ("lora", "weighted_mean", False)
        assert encoder["both_ends"] is False
        assert encoder["adapter"] == {
            "rank": 16, "alpha": 32, "dropout": 0.05, "partial": name == "phi3_4b",
            "targets": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        }  # fmt: skip
        assert (engine["steps"], engine["batch_size"], engine["accumulation"]) == (1000, 64, 1)
        assert engine["schedule"] | {"name": "constant", "warmup_steps": 300} == engine["schedule"]
        optimizer = {"name": "adamw", "weight_decay": 0.0, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
        assert engine["optimizer"] | optimizer == engine["optimizer"] and engine["dtype"] == "bfloat16"
        assert (found["learning_rates"], found["seeds"], found["epochs"]) == ([2e-4], [42], None)
        assert (found["mixed"], found["temperature"]) == (False, 0.02)
        assert texts_of(paper, "train_encoder", f"{name}/l3prune_{depth}") == {**texts, "form": form}
        scored = settings_of(paper, "evaluate_encoder", f"{name}/l3prune_{depth}_trained")
        assert scored["separator"] == ": " and scored["encoder"]["form"] == form and scored["seeds"] == [42]
        assert {task["name"]: task["instruction"] for task in scored["tasks"]} == TASKS
        assert not any(task["passage_instruction"] for task in scored["tasks"])
    losses = settings_of(paper, "measure_layers", f"{name}/l3prune")
    assert losses | {"temperature": 0.02, "batch_size": 64, "batches": 20, "seed": 42, "dtype": "bfloat16"} == losses
    assert losses["encoder"]["layers"] is None and losses["encoder"]["method"] == "none"
    assert losses["encoder"]["form"] == form
    assert texts_of(paper, "measure_layers", f"{name}/l3prune") == {**texts, "form": form}


WIKIPEDIA = ["Given a question, retrieve Wikipedia passages that answer the question"]
CHINESE = ["Given a Chinese search query, retrieve web passages that answer the question"]
ANSWERS = ["Retrieve Wikipedia passages that answer the question"]
ALL_INSTRUCTIONS = {
    "e5_allnli": [
        "Given a premise, retrieve a hypothesis that is entailed by the premise",
        "Retrieve semantically similar text",
    ],
    "e5_dureader": CHINESE,
    "e5_t2ranking": CHINESE,
    "e5_eli5_question_answer": ["Provided a user question, retrieve the highest voted answers on Reddit ELI5 forum"],
    "e5_fever": ["Given a claim, retrieve documents that support or refute the claim"],
    "e5_hotpot_qa": ["Given a multi-hop question, retrieve documents that can help answer the question"],
    "e5_miracl": WIKIPEDIA,
    "e5_mrtydi": WIKIPEDIA,
    "e5_nq": WIKIPEDIA,
    "e5_msmarco_passage": ["Given a web search query, retrieve relevant passages that answer the query"],
    "e5_msmarco_document": ["Given a web search query, retrieve relevant documents that answer the query"],
    "e5_quora_duplicates": [
        "Given a question, retrieve questions that are semantically equivalent to the given question",
        "Find questions that have the same meaning as the input question",
    ],
    "e5_squad": ANSWERS,
    "e5_trivia_qa": ANSWERS,
}
SIMILAR = "Retrieve semantically similar text."
TASKS = {
    "scifact": "Given a scientific claim, retrieve documents that support or refute the claim",
    "arguana": "Given a claim, find documents that refute the claim",
    "nfcorpus": "Given a question, retrieve relevant documents that best answer the question",
    "stackoverflow": "Retrieve duplicate questions from StackOverflow forum",
    "scidocs": "Given a title of a scientific paper, retrieve the titles of other relevant papers",
    "biorxiv": "Identify the main category of Biorxiv papers based on the titles",
    "medrxiv": "Identify the main category of Medrxiv papers based on the titles",
    "newsgroups": "Identify the topic or theme of the given news articles",
    "sprint": "Retrieve duplicate questions from Sprint forum",
    "banking77": "Given a online banking query, find the corresponding intents",
    "emotion": "Classify the emotion expressed in the given Twitter message into one of the six emotions: anger, fear, "
    "joy, love, sadness, and surprise",
    "massive": "Given a user utterance as query, find the user intents",
    "sts17": SIMILAR,
    "sick_r": SIMILAR,
    "sts_benchmark": SIMILAR,
}


def test_a_data_set_that_instructions_misspell_is_named():
    """Else its queries would have no instruction, without a word."""
    edit = {"set": f"papers.{SLUG}.instructions.wordnet_wrods=[Retrieve]", "scale": "nano", "build": [SLUG]}
    with pytest.raises(ReprlabError, match=r"instructions\.wordnet_wrods"):
        make_plan(load_config(ROOT, edit))
    # Words with signs of YAML and of templates come through as they are.
    odd = 'Given "a: {b}", [find] #1; 50 % \\\\n'
    found = load_config(
        ROOT, {"scale": "nano", "build": [SLUG], "set": f"papers.{SLUG}.instructions.wordnet_words=['{odd}']"}
    )
    assert found.papers[SLUG].instructions["wordnet_words"] == [odd]
    planned = texts_of(make_plan(found).jobs, "train_encoder", "llama_deep/l3prune_p00")
    assert planned["instructions"]["wordnet_words"] == [odd]


def test_blanks_around_the_whole_string_are_left_out_before_it_is_wrapped(place):
    """As upstream strips it: a line end behind a text would have the greatest weight in its mean."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=blank_words(), pad_token="<pad>")
    plain = TextForm(before="user", after="end", begin=False)
    stripped = plain.model_copy(update={"stripped": True})
    text = "\nask\n"
    for form, asked, expected in (
        (plain, "", "user _ ask _ end"),
        (stripped, "", "user ask end"),
        # Behind an instruction the blanks before the text are within the string.
        (stripped, " no", "user _ no _ ask end"),
    ):
        ids = encode_texts(tokenizer, [text], form, asked).ids.flat
        assert words(tokenizer, ids) == expected
    assert not needs_our_module(EncoderSettings(method="none", pooling="last", form=plain), tokenizer)
    assert needs_our_module(EncoderSettings(method="none", pooling="last", form=stripped), tokenizer)


def blank_words():
    """A tokenizer of single letters' words whose blanks are tokens."""
    known = ["<pad>", "user", "ask", "yes", "no", "end", "_"]
    found = Tokenizer(models.WordLevel({word: n for n, word in enumerate(known)}, unk_token="_"))
    found.pre_tokenizer = pre_tokenizers.Split(Regex(r"\s"), "isolated")
    return found
