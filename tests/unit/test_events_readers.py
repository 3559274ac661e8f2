"""Readers of event corpora on hand-made files in their true formats, and on the corpus itself from a mirror."""

import os
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from event_samples import (
    EXCEPTIONS,
    MAVEN,
    RED,
    RED_TEXT,
    STORYLINE_CHAINS,
    STORYLINE_FILES,
    STORYLINE_PAIRS,
    VERBS,
    synset,
)
from reader_cases import Planted
from reprlab.data.archives import Archive
from reprlab.data.event_rows import Chains, Mention, event_row
from reprlab.data.readers import event_storyline, maven_ere, richer_events, wordnet_events
from reprlab.data.sources import Sources
from reprlab.data.wordnet_verbs import lemmas_of
from reprlab.events.documents import EventDocument, event_document, split_events
from reprlab.events.pairs import Ranking, known_pairs
from reprlab.events.rankings import rank_at_random, rank_by_chain
from reprlab.events.scoring import classification_rows, gold_ranking, retrieval_rows
from reprlab.events.settings import PairTask
from reprlab.registry.dataset_entries import ArchiveFile, SplitSettings
from reprlab.registry.datasets import load_registry
from reprlab.reporting.published import read_printed
from reprlab.runtime.errors import ReprlabError

MIRROR = Path(os.environ.get("REPRLAB_MIRROR", "/nonexistent")) / "github" / "tommasoc80" / "EventStoryLine"
ROOT = Path(__file__).parents[2]
REGISTRY = ROOT / "config" / "datasets.yaml"
# What the audit reads in place of the corpus.
MEASURED = {
    name.strip(): float(row["value"]) for name, row in read_printed(ROOT, "event-relations", "corpus", keys=2).items()
}


def planted(folder: Path, files: dict[str, bytes]) -> Sources:
    paths = {}
    for name, content in files.items():
        paths[name] = folder / name
        paths[name].parent.mkdir(parents=True, exist_ok=True)
        paths[name].write_bytes(content)
    return Sources({"sample": Planted(paths, next(iter(files)))})  # type: ignore[dict-item]


def storyline(folder: Path, files: dict[str, bytes] = STORYLINE_FILES, **options: object) -> EventDocument:
    settings = event_storyline.Settings.model_validate(options)
    (row,) = event_storyline.read(planted(folder, files), settings, SplitSettings())
    return event_document(row)


def test_event_storyline(tmp_path: Path) -> None:
    document = storyline(tmp_path)
    assert [document.trigger(n) for n in range(len(document))] == ["went off", "killed", "exploded", "said"]
    assert document.sentence_starts == (0, 6) and document.group == "1" and document.split == "train"
    assert document.relations == {(0, 1): "PRECONDITION", (1, 2): "null", (0, 3): "FALLING_ACTION"}
    # went off and exploded are one event; a markable without tokens and a person are not mentions.
    assert document.chains[0] == document.chains[2] != -1 and document.chains[1] == -1
    dropped = storyline(tmp_path, dropped_classes=["REPORTING"], validation_topics=["1"])
    assert len(dropped) == 3 and (0, 3) not in dropped.relations and dropped.split == "validation"


def test_a_pair_of_no_event_is_an_error_or_left_out(tmp_path: Path) -> None:
    pairs = next(name for name, content in STORYLINE_FILES.items() if content == STORYLINE_PAIRS)
    files = {**STORYLINE_FILES, pairs: b"4_5\t8\tnull\n" + STORYLINE_PAIRS}
    with pytest.raises(ReprlabError, match=r"line 1: 4_5 or 8 is not an event"):
        storyline(tmp_path, files)
    assert len(storyline(tmp_path, files, drop_unknown=True).relations) == 3


def test_maven_relations_of_events_hold_between_all_their_mentions(tmp_path: Path) -> None:
    files = {"train.jsonl": MAVEN, "valid.jsonl": MAVEN.replace(b"doc1", b"doc2")}
    rows = list(maven_ere.read(planted(tmp_path, files), maven_ere.Settings(validation_share=0), SplitSettings()))
    document = event_document(rows[0])
    assert [row["split"] for row in rows] == ["train", "test"]
    assert [document.trigger(n) for n in range(3)] == ["attacked", "attack", "killed"]
    assert document.relations == {(0, 2): "cause", (1, 2): "cause"} and document.chains == (0, 0, -1)
    kinds = maven_ere.Settings(kinds=["temporal", "subevent", "causal"])
    both = event_document(next(iter(maven_ere.read(planted(tmp_path, files), kinds, SplitSettings()))))
    # The first kind that is named counts; a time expression is not an event.
    assert both.relations == {(0, 2): "before", (1, 2): "before", (2, 0): "subevent", (2, 1): "subevent"}


def test_a_subset_of_maven_is_chosen_by_hash_and_dropped_relations_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = b"\n".join(MAVEN.replace(b"doc1", f"doc{n}".encode()) for n in range(40))
    sources = planted(tmp_path, {"train.jsonl": lines, "valid.jsonl": lines})
    settings = maven_ere.Settings(kinds=["temporal"], documents={"train": 6, "validation": 2, "test": 3})
    with caplog.at_level("INFO", logger="reprlab"):
        rows = list(maven_ere.read(sources, settings, SplitSettings()))
    assert Counter(row["split"] for row in rows) == {"train": 6, "validation": 2, "test": 3}
    names = [row["id"] for row in rows if row["split"] == "test"]
    assert names != ["doc0", "doc1", "doc2"] and names == sorted(names, key=lambda name: int(name[3:]))
    # One relation of each document has the year at one end.
    assert caplog.messages[0].endswith("40 relations with a time expression are left out")
    every = maven_ere.Settings(documents=None)
    assert len(list(maven_ere.read(sources, every, SplitSettings()))) == 80


def test_the_subset_of_maven_has_500_100_and_200_documents_by_default(tmp_path: Path) -> None:
    counts = {"train.jsonl": 900, "valid.jsonl": 300}
    files = {
        name: b"\n".join(MAVEN.replace(b"doc1", f"{name}{n}".encode()) for n in range(count))
        for name, count in counts.items()
    }
    rows = list(maven_ere.read(planted(tmp_path, files), maven_ere.Settings(), SplitSettings()))
    assert Counter(row["split"] for row in rows) == {"train": 500, "validation": 100, "test": 200}


def test_red_spans_are_characters_of_the_text_beside(tmp_path: Path) -> None:
    files = {"data/annotation/a/doc.RED-Relation.gold.completed.xml": RED, "data/source/a/doc": RED_TEXT.encode()}
    (row,) = richer_events.read(planted(tmp_path, files), richer_events.Settings(), SplitSettings())
    document = event_document({**row, "split": "train"})
    assert [document.trigger(n) for n in range(4)] == ["fell", "rose", "flood", "rose"]
    assert document.sentence_of.tolist() == [0, 1, 1, 2] and document.chains == (-1, 0, -1, 0)
    assert document.relations == {(0, 1): "before/causes"}
    (tmp_path / "data/source/a/doc").unlink()
    with pytest.raises(ReprlabError, match=r"its text .* is missing"):
        list(
            richer_events.read(
                planted(tmp_path, dict(list(files.items())[:1])), richer_events.Settings(), SplitSettings()
            )
        )


def test_red_relations_with_a_time_expression_are_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    # The sample has one such TLINK; here are another, and an ALINK, which is not read.
    unread = RED[RED.rindex(b"<relation>") : RED.index(b"</annotations>")].replace(b"1@e@doc@gold", b"5@e@doc@gold")
    read = unread.replace(b"<type>ALINK</type>", b"<type>TLINK</type>")
    content = RED.replace(b"</annotations>", read + unread + b"</annotations>")
    files = {"data/annotation/a/doc.RED-Relation.gold.completed.xml": content, "data/source/a/doc": RED_TEXT.encode()}
    with caplog.at_level("INFO", logger="reprlab"):
        (row,) = richer_events.read(planted(tmp_path, files), richer_events.Settings(), SplitSettings())
    assert len(row["relations"]) == 1 and read != unread
    assert caplog.messages == ["planted: 2 relations with a time expression are left out"]


def test_a_red_trigger_of_two_spans_is_its_words_without_those_between(tmp_path: Path) -> None:
    assert b"<span>26,30</span>" in RED
    document_of = {}
    for spans in ("26,30;36,39", "36,39;26,30"):
        content = RED.replace(b"<span>26,30</span>", f"<span>{spans}</span>".encode())
        files = {
            "data/annotation/a/doc.RED-Relation.gold.completed.xml": content,
            "data/source/a/doc": RED_TEXT.encode(),
        }
        (row,) = richer_events.read(planted(tmp_path, files), richer_events.Settings(), SplitSettings())
        document_of[spans] = event_document({**row, "split": "train"})
    one, other = document_of.values()
    assert one == other and one.trigger(1) == "rose the" and len(one.triggers[1]) == 2
    # A comma and a word stand between.
    assert np.diff(one.triggers[1]).tolist() == [3]
    assert one.relations == {(0, 1): "before/causes"} and one.chains == (-1, 0, -1, 0)


def test_wordnet_documents_share_no_sense_between_splits(tmp_path: Path) -> None:
    options = {"data": "data.verb", "exceptions": "verb.exc", "smallest": 4, "largest": 8}
    settings = wordnet_events.Settings(**options, documents={"train": 5, "validation": 3, "test": 3})
    sources = planted(tmp_path, {"data.verb": VERBS, "verb.exc": EXCEPTIONS})
    splits = SplitSettings(train=0.5, validation=0.25, test=0.25)
    rows = list(wordnet_events.read(sources, settings, splits))
    assert rows == list(wordnet_events.read(sources, settings, splits))
    senses = {
        split: {m.split(".")[0] for row in rows if row["split"] == split for m in row["mentions"]}
        for split in ("train", "validation", "test")
    }
    assert not senses["train"] & senses["test"] and not senses["train"] & senses["validation"]
    assert Counter(row["split"] for row in rows) == settings.documents
    for row in rows:
        document = event_document(row)
        assert 4 <= len(document) <= 8
        for n, name in enumerate(row["mentions"]):
            verb = [{"walk", "walked"}, {"run", "running"}, {"go", "went"}, {"kill", "killed"}][
                int(name.split(".")[0]) % 4
            ]
            assert document.trigger(n) in verb
        for (head, tail), label in document.relations.items():
            assert int(row["mentions"][tail].split(".")[0]) % 4 == {"HYPERNYM": 2, "CAUSE": 3}[label], (head, label)


def test_senses_of_which_few_are_related_fill_a_document_too(tmp_path: Path) -> None:
    lines = VERBS.decode().splitlines(keepends=True)
    # Only the first sense keeps its pointers.
    alone = [line if n < 2 else re.sub(r" 002 .* 01 \+", " 000  01 +", line) for n, line in enumerate(lines)]
    sources = planted(tmp_path, {"data.verb": "".join(alone).encode(), "verb.exc": EXCEPTIONS})
    options = {"data": "data.verb", "exceptions": "verb.exc", "smallest": 8, "largest": 8, "documents": {"train": 3}}
    settings = wordnet_events.Settings.model_validate(options)
    rows = list(wordnet_events.read(sources, settings, SplitSettings(train=1, validation=0, test=0)))
    assert [len(row["mentions"]) for row in rows] == [8, 8, 8]
    assert all(len(row["relations"]) <= 2 for row in rows)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_as_many_pairs_are_related_as_the_settings_ask_for(tmp_path: Path, seed: int) -> None:
    """Specification, section 6: 8 to 12 %; a walk that turns back at each leaf of the hypernyms stays below."""
    examples = ('"they walk"; "we walk"', '"you walk"', '"all walk"')
    verbs = "".join(
        synset(f"{n:08d}", "walk", f"@ {(n - 1) // 3:08d} v 0000" if n else "", f"to do {n}; {examples[n % 3]}")
        for n in range(900)
    )
    sources = planted(tmp_path, {"data.verb": verbs.encode(), "verb.exc": EXCEPTIONS})
    settings = wordnet_events.Settings(data="data.verb", exceptions="verb.exc", documents={"train": 200})
    rows = wordnet_events.read(sources, settings, SplitSettings(seed=seed, train=1, validation=0, test=0))
    documents = [event_document(row) for row in rows]
    related = sum(int(np.triu(d.related).sum()) for d in documents)
    assert 0.08 <= related / sum(len(d.pairs(False)) for d in documents) <= 0.12


def test_lemmas() -> None:
    irregular = {"went": {"go"}}
    for form, lemma in {"went": "go", "Cries": "cry", "stopped": "stop", "running": "run", "moves": "move"}.items():
        assert lemma in lemmas_of(form, irregular)


def test_rows_refuse_what_is_not_there() -> None:
    with pytest.raises(ReprlabError, match="trigger of the mention 'a' is not in the document"):
        event_row("d", "g", [["x"]], [Mention("a", (1,))], [], "here")
    with pytest.raises(ReprlabError, match="'b', which is not there"):
        event_row("d", "g", [["x"]], [Mention("a", (0,))], [("a", "b", "l")], "here")
    chains = Chains()
    chains.join(["a", "b"])
    chains.join(["c", "b"])
    assert chains.numbers(["a", "b", "c", "d"]) == {"a": 0, "b": 0, "c": 0, "d": -1}


@pytest.fixture(scope="module")
def corpus() -> dict[str, list[EventDocument]]:
    """The Event StoryLine Corpus in each declared form, from the mirror."""
    root = MIRROR
    if not root.is_dir():
        pytest.skip("REPRLAB_MIRROR has no Event StoryLine Corpus")
    registry, found = load_registry(REGISTRY), {}
    for name in ("event_storyline_v0_9", "event_storyline_v0_9_all", "event_storyline_v1_5"):
        entry = registry.task(name)
        archive = registry.archive(entry.archives[0])
        sources = Sources({archive.name: _InMirror(archive.name, root, tuple(archive.files), 0)})
        settings = event_storyline.Settings.model_validate(entry.options)
        found[name] = [event_document(row) for row in event_storyline.read(sources, settings, entry.splits)]
    return found


class _InMirror(Archive):
    def file(self, name: str | None = None) -> Path:
        assert isinstance(name, str)
        return self.cache / name


def facts(documents: list[EventDocument]) -> tuple[int, ...]:
    within = sum(d.sentence_of[h] == d.sentence_of[t] for d in documents for h, t in d.relations)
    total = sum(len(d.relations) for d in documents)
    return len(documents), sum(map(len, documents)), max(map(len, documents)), int(within), total - int(within)


def test_the_corpus_has_the_counts_of_the_paper(corpus: dict[str, list[EventDocument]]) -> None:
    whole = corpus["event_storyline_v0_9_all"]
    assert facts(whole) == (258, 5334, 58, 1770, 3855)
    assert sum(head < tail for d in whole for head, tail in d.relations) == 5625, "pairs are in textual order"
    assert Counter(bool(d.relations) for d in whole) == {True: 253, False: 5}
    documents = corpus["event_storyline_v0_9"]
    assert facts(documents) == (258, 4695, 51, 1746, 3833) and round(4695 / 258, 2) == 18.20
    assert facts(documents)[:3] == tuple(MEASURED[name] for name in ("documents", "events", "most_events"))
    topics = "1 3 4 5 7 8 12 13 14 16 18 19 20 22 23 24 30 32 33 35 37 41"
    assert sorted({int(d.group) for d in documents}) == list(map(int, topics.split()))
    assert Counter(label for d in documents for label in d.relations.values()) == {
        "PRECONDITION": 2689, "FALLING_ACTION": 2870, "null": 20,
    }  # fmt: skip
    assert all(head < tail for d in documents for head, tail in d.relations), "pairs are in textual order"
    pairs = [d.sentence_of[d.pairs(False)] for d in documents]
    within = sum(int((pair[:, 0] == pair[:, 1]).sum()) for pair in pairs)
    assert (sum(map(len, pairs)), within) == (54056, 7805)
    assert facts(corpus["event_storyline_v1_5"])[:2] == (258, 5188)


@pytest.mark.parametrize(
    ("name", "links", "kinds", "kept"),
    [
        ("event_storyline_v0_9_all", 2266, (1137, 1115, 14), 2265),
        ("event_storyline_v1_5", 2626, (1339, 1269, 18), None),
    ],
)
def test_links_of_the_annotation_are_relations_of_the_reader(
    corpus: dict[str, list[EventDocument]], name: str, links: int, kinds: tuple[int, ...], kept: int | None
) -> None:
    """The reader takes the extended pairs; the links in the XML, from which they were made, are among them."""
    version = load_registry(REGISTRY).task(name).options["version"]
    documents = {document.name: document for document in corpus[name]}
    found, among, forward = Counter[str | None](), 0, 0
    for path in (MIRROR / "annotated_data" / version).glob("*/*.xml"):
        root = ElementTree.parse(path).getroot()
        tokens = {token.get("t_id"): place for place, token in enumerate(root.iter("token"))}
        triggers = {
            markable.get("m_id"): tuple(tokens[anchor.get("t_id")] for anchor in markable.findall("token_anchor"))
            for markable in root.find("Markables") or ()
        }
        document = documents[path.name.partition(".")[0]]
        number = {trigger: place for place, trigger in enumerate(document.triggers)}
        for link in root.iter("PLOT_LINK"):
            found[link.get("relType")] += 1
            ends = [number.get(triggers[link.find(end).get("m_id")]) for end in ("source", "target")]  # type: ignore[union-attr]
            among += None not in ends and bool(document.related[ends[0], ends[1]])
            forward += None not in ends and ends[0] < ends[1]  # type: ignore[operator]
    assert found.total() == links and (found["PRECONDITION"], found["FALLING_ACTION"], found[None]) == kinds
    assert among == kept if kept else among > 0.98 * links
    assert forward == 2260 if kept else forward > 0.98 * links, "nearly all links are in textual order"


def test_folds_are_by_topic(corpus: dict[str, list[EventDocument]]) -> None:
    documents = corpus["event_storyline_v0_9"]
    tested = []
    for fold in range(5):
        parts = split_events(documents, 5, fold)
        topics = {split: {d.group for d in found} for split, found in parts.items()}
        assert (
            len(topics["test"]) == 4 and not topics["test"] & topics["train"] and topics["validation"] == {"37", "41"}
        )
        assert fold or topics["test"] == {"1", "3", "4", "5"}, "by number, not by letter"
        tested += [d.name for d in parts["test"]]
    assert len(tested) == len(set(tested)) == 233
    parts = split_events(documents, 5, 0)
    held_out, others = parts["validation"], parts["train"] + parts["test"]
    of = [(len(part), sum(map(len, part)), sum(len(d.relations) for d in part)) for part in (held_out, others)]
    assert of == [(25, 531, 549), (233, 4164, 5030)]


def test_gold_chains_of_the_corpus_give_relations_away(corpus: dict[str, list[EventDocument]]) -> None:
    """Chain files list mentions in a relation alone: a ranking by them, without a text, finds what retrievers miss."""
    documents = corpus["event_storyline_v0_9"]
    related = [bool(d.related[one].any()) for d in documents for one in range(len(d)) if d.chains[one] >= 0]
    assert (len(related), sum(related)) == (MEASURED["chained"], MEASURED["chained_and_related"])
    assert sum(related) / len(related) > 0.999
    tested = split_events(documents, 5, 0)["test"]
    recall = {
        name: next(row["value"] for row in retrieval_rows(tested, ranked, [5], "test"))
        for name, ranked in (("chains", rank_by_chain(tested, 0)), ("random", rank_at_random(tested, 0)))
    }
    assert round(recall["chains"], 1) == MEASURED["recall_by_chain 5"] > 75 > 50 > recall["random"]
    assert not any(number >= 0 for d in corpus["event_storyline_v1_5"] for number in d.chains)
    assert not event_storyline.has_chains(event_storyline.Settings(version="v1.5"))


def test_candidates_and_ceilings_of_the_corpus(corpus: dict[str, list[EventDocument]]) -> None:
    """What the stage writes, of a retriever that ranks by the gold relations."""
    documents = corpus["event_storyline_v0_9"]
    gold = {d.name: Ranking(gold_ranking(d), d.related.astype(float)) for d in documents}
    rows = retrieval_rows(documents, gold, [3, 5, 7, 10], "test")
    found = {
        name: [round(row["value"], 1) for row in rows if row["metric"] == name]
        for name in (
            "candidates",
            "all_pairs",
            "saved",
            "density",
            "retrieval_recall",
            "greedy_oracle",
            "recall_ceiling",
        )
    }
    assert found["candidates"] == [14062, 23368, 32507, 45632] and found["all_pairs"] == [108112] * 4
    assert found["saved"][1] == 78.4 and found["density"] == [10.3] * 4
    # Gold neighbours as scores, ties by place: what the specification calls a ceiling; the true one is a flow.
    assert found["greedy_oracle"] == found["retrieval_recall"] == [82.9, 94.5, 97.9, 99.5]
    assert found["recall_ceiling"] == [MEASURED[f"recall_ceiling {k}"] for k in (3, 5, 7, 10)]


def test_no_relation_for_any_pair_of_the_corpus_is_nine_times_in_ten_right(
    corpus: dict[str, list[EventDocument]],
) -> None:
    settings = PairTask.model_validate({"events": {}, "labels": ["PRECONDITION", "FALLING_ACTION"], "inference": "all"})
    documents = corpus["event_storyline_v0_9"]
    pairs = [known_pairs(d, settings) for d in documents]
    rows = classification_rows(documents, pairs, [np.zeros_like(one.labels) for one in pairs], settings, "test")
    found = {(row["subset"], row["metric"]): (row["value"], row["n"]) for row in rows}
    # The 20 pairs without a name are not part of it.
    assert (round(found["all pairs", "accuracy"][0] / 100, 3), found["all pairs", "accuracy"][1]) == (0.897, 54036)
    assert [found["related", name] for name in ("precision", "recall", "f1")] == [(0.0, 5559)] * 3


def test_manifests_name_each_file_once_by_digest() -> None:
    archive = load_registry(REGISTRY).archive("event_storyline_v0_9")
    assert len(archive.files) == len({file.file for file in archive.files}) == 764
    assert all(isinstance(file, ArchiveFile) and file.sha256 and file.bytes for file in archive.files)
    assert STORYLINE_CHAINS in STORYLINE_FILES.values()
