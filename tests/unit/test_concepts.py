"""Concept graphs, counts, curricula and marks: known answers of the specification, and plain loops as oracles."""

import itertools
import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reprlab.artifacts.tables import read_parquet, read_tsv
from reprlab.concepts.blocks import cut_blocks
from reprlab.concepts.curriculum import STEPS, Counts, basic_concepts, curriculum_sizes, kept_concepts, sweep
from reprlab.concepts.files import concept_lines
from reprlab.concepts.graph import UNREACHED, ConceptGraph
from reprlab.concepts.marks import CONCEPT, FIRST, OPENS, mark_words
from reprlab.concepts.matching import ConceptMatcher, leftmost, words_of
from reprlab.concepts.settings import (
    BasicSettings,
    BlockSettings,
    CountingSettings,
    CurriculumSettings,
    ExpansionSettings,
    FilterSettings,
    SweepSettings,
)
from reprlab.data.schema import write_rows
from reprlab.objectives.masked_concepts import Objective, Settings
from reprlab.runtime.errors import ReprlabError
from reprlab.stages.build_graph import build_graph
from reprlab.stages.count_concepts import count_concepts
from reprlab.stages.expand_concepts import expand_concepts
from reprlab.stages.filter_concepts import filter_concepts
from reprlab.stages.mark_concepts import mark_concepts
from reprlab.stages.select_concepts import select_concepts
from reprlab.stages.sweep_concepts import sweep_concepts
from reprlab.stages.tokenize_blocks import tokenize_blocks
from reprlab.text.mask_vocabulary import MaskVocabulary
from reprlab.text.token_store import TokenStore
from reprlab.text.tokenizer_folder import open_tokenizer
from transformers import BertTokenizerFast

TOY = ["a\nb", "b\nc", "c\nd", "d\ne", "x\ny"]
DOMAIN = {"a": 10, "b": 9, "c": 4, "d": 1, "e": 0, "x": 9, "y": 3}
GENERAL = {"b": 8, "c": 1}
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "can", "##cer", "lung", "of", "the", "is", "a", ".", ",", "-",
          "x", "ray", "##s", "cell", "b", "##lung", "'", "/", "(", ")", ";", "s", "i"]  # fmt: skip


def toy(hops):
    """The curriculum of the specification's 5.4, and its basic concepts."""
    graph = ConceptGraph.of_assertions(TOY)
    counts = Counts(*(np.array([table.get(one, 0) for one in graph.concepts]) for table in (DOMAIN, GENERAL)))
    basic = basic_concepts(graph, counts.domain, 5, 2)
    reached = graph.distances(basic, hops) != UNREACHED
    rare, kept = kept_concepts(reached, counts, FilterSettings(general_limit=5 / 3))
    names = np.array(graph.concepts)
    return names[basic].tolist(), set(names[reached]), set(names[rare]), set(names[kept])


def test_the_toy_curriculum():
    """Frequency first, then degree, ties alphabetically; the other order would give S = {b}."""
    basic, reached, rare, kept = toy(2)
    assert basic == ["b", "a"]
    assert (reached, rare, kept) == (set("abcd"), set("acd"), set("acd"))
    assert toy(3)[1:] == (set("abcde"), set("acde"), set("acd"))


def test_the_thresholds_at_their_edges():
    """More than f is basic, f is not; f/3 in general text stays, one more does not; the least in the domain stays."""
    graph = ConceptGraph.of_assertions(["a\nb", "b\nc"])
    domain, general = np.array([7, 6, 5]), np.array([3, 2, 1])
    assert basic_concepts(graph, domain, 6, 9).tolist() == [0]
    assert basic_concepts(graph, domain, 5, 9).tolist() == [1, 0]
    near = np.ones(3, dtype=bool)
    rare, kept = kept_concepts(near, Counts(domain, general), FilterSettings(general_limit=6 / 3, domain_least=6))
    assert rare.tolist() == [False, True, True] and kept.tolist() == [False, True, False]


def test_synonyms_are_neighbours_and_loops_are_not():
    graph = ConceptGraph.of_assertions(["dog\thound\ncat", "cat\ncat", "cat\ndog"])
    assert graph.concepts == ["cat", "dog", "hound"]
    assert graph.adjacency.toarray().astype(int).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert graph.degrees.tolist() == [2, 2, 2]


WORDS = st.lists(st.sampled_from("ab"), min_size=1, max_size=5).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(WORDS, max_size=8, unique=True), st.lists(st.lists(st.sampled_from("abc"), max_size=12), max_size=4))
def test_counts_and_spans_are_those_of_plain_loops(concepts, texts):
    matcher = ConceptMatcher(concepts)
    seen = Counter(
        " ".join(text[place : place + size]) for text in texts for size in range(1, 5) for place in range(len(text))
        if place + size <= len(text)
    )  # fmt: skip
    expected = [seen[one] if len(one.split()) <= 4 else 0 for one in concepts]
    assert matcher.count(" ".join(text) for text in texts).tolist() == expected
    for text in texts:
        place, found = 0, []
        while place < len(text):
            fit = [
                n for n in range(4, 0, -1) if place + n <= len(text) and " ".join(text[place : place + n]) in concepts
            ]
            found += [(place, fit[0])] if fit else []
            place += fit[0] if fit else 1
        start, length = matcher.spans(matcher.numbers(text))
        assert list(zip(start.tolist(), length.tolist(), strict=True)) == found


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.integers(0, 30), st.integers(1, 6), max_size=20))
def test_leftmost_is_a_walk_from_left_to_right(intervals):
    taken, end = [], 0
    for start, length in sorted(intervals.items()):
        if start >= end:
            taken, end = [*taken, start], start + length
    start = np.array(sorted(intervals), dtype=np.int64)
    assert leftmost(start, np.array([intervals[one] for one in start], dtype=np.int64))[0].tolist() == taken


def test_words_are_split_at_punctuation_and_concepts_too():
    matcher = ConceptMatcher(["cancer", "x-ray", "lung cancer", "a b c d e", "ill"])
    assert matcher.lost == 1
    assert matcher.count(["Cancer. An X-ray of lung", "cancer, still; LUNG CANCER"]).tolist() == [3, 1, 1, 0, 0]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_curriculum_is_monotone(data):
    size = data.draw(st.integers(2, 12))
    edges = data.draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), min_size=1, max_size=30))
    graph = ConceptGraph.of_assertions([f"{one:02}\n{two:02}" for one, two in edges])
    numbers = st.lists(st.integers(0, 9), min_size=len(graph.concepts), max_size=len(graph.concepts))
    counts = Counts(np.array(data.draw(numbers)), np.array(data.draw(numbers)))
    sizes, reach = {}, {}
    for hops in range(4):
        for limit in (1, 2, 5):
            basic = basic_concepts(graph, counts.domain, 2, limit)
            reach[hops, limit] = set(np.flatnonzero(graph.distances(basic, hops) != UNREACHED))
            chosen = CurriculumSettings(frequency=2, basic=limit, hops=hops, general_limit=3)
            sizes[hops, limit] = curriculum_sizes(graph, counts, chosen)
            found = list(sizes[hops, limit].values())[3:]
            assert found == sorted(found, reverse=True)
    for hops, limit in sizes:
        for other in ((hops + 1, limit), (hops, 2), (hops, 5)):
            if other in sizes and other >= (hops, limit):
                assert reach[hops, limit] <= reach[other]
                assert len(reach[other]) == sizes[other]["expanded"] >= sizes[hops, limit]["expanded"]
    reached = graph.distances(basic_concepts(graph, counts.domain, 2, 5), 3) != UNREACHED
    _, kept = kept_concepts(reached, counts, FilterSettings(general_limit=3))
    assert (counts.general[kept] <= 3).all() and (counts.domain[kept] >= 1).all() and (reached | ~kept).all()


def test_a_sweep_changes_one_threshold_at_a_time():
    graph = ConceptGraph.of_assertions(TOY)
    counts = Counts(*(np.array([table.get(one, 0) for one in graph.concepts]) for table in (DOMAIN, GENERAL)))
    given = CurriculumSettings(frequency=5, basic=2, hops=2, general_limit=5 / 3)
    rows = list(sweep(graph, counts, SweepSettings(curriculum=given, hops=[0, 2, 3], times=[1.0, 10.0])))
    final = {(row["threshold"], row["setting"]): row["value"] for row in rows if row["step"] == STEPS[-1]}
    assert final["hops", 0] == 1 and final["hops", 2] == final["hops", 3] == 3
    assert final["general_limit", 50 / 3] == 4 and final["domain_least", 10] == 1 and final["frequency", 50] == 0


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A folder with a WordPiece tokenizer of a few pieces."""
    folder = tmp_path_factory.mktemp("bert")
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    return folder


def blocks_of(folder, texts, length):
    return list(cut_blocks(open_tokenizer(folder), texts, length))


def test_blocks_end_with_whole_words_between_special_tokens(bert):
    (found,) = (blocks for _, blocks in blocks_of(bert, ["Cancer of the lung.\n  Cells"], 8))
    pieces = [[PIECES[one] for one in ids] for ids in found.ids]
    assert pieces == [["[CLS]", "can", "##cer", "of", "the", "lung", ".", "[SEP]"], ["[CLS]", "cell", "##s", "[SEP]"]]
    assert [types.tolist() for types in found.types] == [[0, 1, 2, 1, 1, 1, 1, 0], [0, 1, 2, 0]]
    assert found.words == [["cancer", "of", "the", "lung", "."], ["cells"]]
    assert [row for row, _ in blocks_of(bert, ["", "lung", " \n", "a"], 8)] == [1, 3]
    with pytest.raises(ValueError, match="length"):
        BlockSettings(length=4)


def marks(folder, text, concepts):
    """The pieces of each marked occurrence."""
    ((_, found),) = blocks_of(folder, [text], 99)
    ids, types = found.ids[0], found.types[0]
    rows = np.zeros(len(found.words[0]), dtype=np.int64)
    marked = mark_words(types, ids < 5, rows, found.words[0], found.joined[0], ConceptMatcher(concepts))
    assert ((marked & 3) == types).all()
    starts = np.flatnonzero(marked & OPENS)
    inside = np.flatnonzero(marked & CONCEPT)
    return [[PIECES[ids[one]] for one in inside if place <= one < after]
            for place, after in zip(starts, [*starts, len(ids)][1:], strict=True)]  # fmt: skip


def test_marks_cover_all_pieces_of_all_words(bert):
    assert marks(bert, "the lung cancer is", ["lung cancer", "cancer"]) == [["lung", "can", "##cer"]]
    assert marks(bert, "Lung, cancer", ["lung cancer", "cancer"]) == [["can", "##cer"]]
    assert marks(bert, "the x-ray.", ["x-ray", "ray"]) == [["x", "-", "ray"]]


# Text whose marks of punctuation touch both words, and the same with a mark that does not.
PUNCTUATED = {
    "cell's": ("A cell's.", ["cell '", "cell 's", "cell' s", "cell, s"]),
    "x-ray": ("(x-ray)", ["x - ray", "x -ray", "x--ray", "x -- ray", "x. ray"]),
    "a.b": ("the a.b, is", ["a. b", "a .b", "a..b"]),
    "lung/cancer": ("lung/cancer", ["lung / cancer", "lung;\ncancer"]),
    "a, b": ("a b", ["a, b"]),
    "lung cancer": ("LUNG\u00a0\n Cancer", ["lung - cancer", "lung -- cancer", "lung (cancer)", "lung \u200b cancer"]),
}


@pytest.mark.parametrize("concept", PUNCTUATED)
def test_an_occurrence_passes_over_punctuation_that_touches_both_words(bert, concept):
    matcher, (inside, outside) = ConceptMatcher([concept]), PUNCTUATED[concept]
    assert matcher.count([inside]).tolist() == [1] == [len(marks(bert, inside, [concept]))]
    for text in outside:
        assert (text, matcher.count([text]).tolist(), marks(bert, text, [concept])) == (text, [0], [])


ODD = st.sampled_from(["", " ", "  \n", "\u200b", "\u0301", "\u00a0", "i", *"-'/.,;()", ", ", " -", "--", "- "])
NEAR = [("lung", "cancer"), ("X", "ray"), ("cell", "s"), ("the", "İ"), ("of", "i")]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(NEAR), ODD, ODD), min_size=1, max_size=8))
def test_what_is_counted_is_what_is_marked(bert, parts):
    """Concepts that cannot overlap, over odd punctuation, in one block whose words are all known."""
    text = "".join(f"{one}{between}{two}{behind}" for (one, two), between, behind in parts)
    concepts = ["lung cancer", "x-ray", "cell's", "i"]
    ((_, found),) = blocks_of(bert, [text], 99)
    if PIECES.index("[UNK]") in found.ids[0]:
        return
    assert ConceptMatcher(concepts).count([text]).sum() == len(marks(bert, text, concepts))


def test_a_word_that_is_left_out_is_not_passed_over(bert):
    """One that is longer than a block, or has no piece; nor is the start of a block."""
    long = "lung" * 8
    for text in (f"lung {long} cancer", f"lung {long}-cancer", f"lung-{long}-cancer"):
        (found,) = (blocks for _, blocks in blocks_of(bert, [text], 8))
        assert (found.words[0][0], found.words[0][-1], found.joined[0][-1]) == ("lung", "cancer", False)
    (found,) = (blocks for _, blocks in blocks_of(bert, ["the of is a b lung-cancer"], 8))
    assert found.words[1] == ["-", "cancer"] and found.joined[1][1]
    rows = np.repeat([0, 1], [len(words) for words in found.words])
    types, ids = np.concatenate(found.types), np.concatenate(found.ids)
    words, joined = (list(itertools.chain(*lists)) for lists in (found.words, found.joined))
    assert not (mark_words(types, ids < 5, rows, words, joined, ConceptMatcher(["lung cancer"])) & CONCEPT).any()


def test_a_concept_never_starts_or_ends_inside_a_word(bert):
    """ "lung" is a piece of "blung", and "ray" one of "rays": matching pieces would find both."""
    assert marks(bert, "blung rays lung", ["lung", "ray"]) == [["lung"]]


def test_an_occurrence_with_an_unknown_word_is_none(bert):
    assert marks(bert, "lung tumour, lung", ["lung tumour", "lung"]) == [["lung"]]


@pytest.mark.parametrize("selection", ["concepts", "spans"])
def test_special_tokens_are_never_selected(bert, selection):
    """Text with unknown words inside and beside concepts, and a budget for all of it."""
    text = "tumour lung tumour cancer, x-tumour x-ray tumour lung cancer tumour the cell tumour"
    ((_, found),) = blocks_of(bert, [text], 99)
    ids, rows = found.ids[0], np.zeros(len(found.words[0]), dtype=np.int64)
    matcher = ConceptMatcher(["lung tumour", "tumour", "x-tumour", "x-ray", "lung cancer", "cell"])
    marked = mark_words(found.types[0], ids < 5, rows, found.words[0], found.joined[0], matcher)
    objective = Objective(Settings(budget=1.0, selection=selection), MaskVocabulary.load(bert), 99, 99)
    for seed in range(20):
        batch = objective.collate(ids[None], marked[None], np.array([len(ids)]), np.random.default_rng(seed))
        chosen = batch["labels"][0] != -100
        assert (ids < 5).sum() == 8 and chosen.any() and not chosen[ids < 5].any()
    # All of the other concepts are.
    known = ["x", "-", "ray", "lung", "can", "##cer", "cell"]
    assert selection == "spans" or [PIECES[one] for one in ids[chosen]] == known


def test_marks_end_with_their_block():
    words = ["cancer", "of", "the", "lung", "cancer"]
    matcher = ConceptMatcher(["lung cancer"])
    types = np.array([0, 1, 1, 1, 1, 0, 0, 1, 0], dtype=np.int16)
    ids = np.array([2, 5, 8, 9, 7, 3, 2, 5, 3])
    one = mark_words(types, ids < 5, np.array([0, 0, 0, 0, 1]), words, [True] * 5, matcher)
    assert not (one & CONCEPT).any()
    both = mark_words(types, ids < 5, np.array([0, 0, 0, 0, 0]), words, [True] * 5, matcher)
    assert (both & OPENS).any()


def documents(path, texts, split="train"):
    rows = [{"id": f"d{n}", "text": text, "source": "s", "split": split} for n, text in enumerate(texts)]
    write_rows(path, rows, "documents", {"name": "toy", "title": "Toy", "licence": "none"})
    return path


def test_the_stages_from_assertions_to_marked_blocks(bert, tmp_path, caplog):
    at = {name: tmp_path / name for name in ("graph", "domain", "general", "basic.txt", "expanded", "c.txt", "c.json",
                                             "sizes.tsv", "sweep.tsv", "blocks", "marked", "marked.tsv")}  # fmt: skip
    (tmp_path / "k").mkdir()
    assertions = ["lung\ncancer", "cancer\ncell", "cell\nthe"]
    build_graph(documents=documents(tmp_path / "k/a.parquet", assertions), out=at["graph"])
    texts = documents(tmp_path / "domain.parquet", ["lung cancer is a cancer", "the cell of the lung", "ray"])
    common = documents(tmp_path / "general.parquet", ["the the the lung"])
    with caplog.at_level("INFO", logger="reprlab"):
        for name, path in (("domain", texts), ("general", common)):
            count_concepts(graph=at["graph"], documents=[path, path], out=at[name], settings=CountingSettings())
    assert caplog.text.count("0 of 4 concepts are longer than 4 words") == 2
    assert read_parquet(at["domain"])["count"].to_pylist() == [4, 2, 4, 4]
    select_concepts(graph=at["graph"], domain=at["domain"], out=at["basic.txt"],
                    settings=BasicSettings(frequency=2, basic=1))  # fmt: skip
    assert concept_lines(at["basic.txt"]) == ["cancer"]
    expand_concepts(graph=at["graph"], basic=at["basic.txt"], out=at["expanded"], settings=ExpansionSettings(hops=2))
    assert read_parquet(at["expanded"])["distance"].to_pylist() == [0, 1, 1, 2]
    given = CurriculumSettings(frequency=2, basic=1, hops=2, general_limit=2.0)
    counts = {"graph": at["graph"], "domain": at["domain"], "general": at["general"]}
    filter_concepts(**counts, basic=at["basic.txt"], expanded=at["expanded"], out=at["c.txt"], record=at["c.json"],
                    metrics=at["sizes.tsv"], settings=given)  # fmt: skip
    assert concept_lines(at["c.txt"]) == ["cancer", "cell", "lung"]
    sizes = {"graph": 4, "frequent": 3, "basic": 1, "expanded": 4, "after_general": 3, "after_domain": 3}
    assert read_tsv(at["sizes.tsv"]).set_index("step")["value"].to_dict() == sizes
    thresholds = {"frequency": 2, "basic": 1, "hops": 2, "general_limit": 2.0, "domain_least": 1}
    assert json.loads(at["c.json"].read_text()) == {"settings": thresholds, "sizes": sizes}
    sweep_concepts(**counts, out=at["sweep.tsv"], settings=SweepSettings(curriculum=given, hops=[0, 1], times=[1.0]))
    swept = read_tsv(at["sweep.tsv"])
    assert swept[(swept.threshold == "hops") & (swept.step == "after_domain")].value.tolist() == [1, 3]
    tokenize_blocks(documents=[texts], tokenizer=bert, out=at["blocks"], settings=BlockSettings(length=8))
    mark_concepts(blocks=at["blocks"], tokenizer=bert, concepts=at["c.txt"], out=at["marked"], metrics=at["marked.tsv"])
    store = TokenStore.open(at["marked"], "train")
    ids, types, _ = store.batch(np.arange(len(store)), 8)
    plain = TokenStore.open(at["blocks"], "train").batch(np.arange(len(store)), 8)
    assert (plain[0] == ids).all() and (plain[1] == types & 3).all()
    assert len(store) == 4 and ((types & FIRST) > 0).sum() == 11
    assert {PIECES[one] for one in ids[(types & CONCEPT) > 0]} == {"lung", "can", "##cer", "cell"}
    about = read_tsv(at["marked.tsv"]).set_index("metric")["value"]
    assert about["blocks_without"] == 25 and about["concepts_per_block"] == pytest.approx(5 / 4)
    (tmp_path / "foreign.txt").write_text("tibia\n")
    with pytest.raises(ReprlabError, match=r"foreign\.txt: none of its concepts stands in the train split"):
        mark_concepts(blocks=at["blocks"], tokenizer=bert, concepts=tmp_path / "foreign.txt", out=at["marked"],
                      metrics=at["marked.tsv"])  # fmt: skip
    with pytest.raises(ReprlabError, match="lower it"):
        select_concepts(graph=at["graph"], domain=at["domain"], out=at["basic.txt"],
                        settings=BasicSettings(frequency=99, basic=1))  # fmt: skip
    with pytest.raises(ReprlabError, match="no concept is left"):
        filter_concepts(**counts, basic=at["basic.txt"], expanded=at["expanded"], out=at["c.txt"], record=at["c.json"],
                        metrics=at["sizes.tsv"], settings=given.model_copy(update={"domain_least": 9}))  # fmt: skip
    # Spec T4: n is an upper bound; fewer concepts above f are not an error, and the record says how many there are.
    select_concepts(graph=at["graph"], domain=at["domain"], out=at["basic.txt"],
                    settings=BasicSettings(frequency=2, basic=99))  # fmt: skip
    assert concept_lines(at["basic.txt"]) == ["cancer", "lung", "the"]
    filter_concepts(**counts, basic=at["basic.txt"], expanded=at["expanded"], out=at["c.txt"], record=at["c.json"],
                    metrics=at["sizes.tsv"], settings=given.model_copy(update={"basic": 99}))  # fmt: skip
    record = json.loads(at["c.json"].read_text())
    assert record["sizes"]["basic"] == record["sizes"]["frequent"] == 3 < record["settings"]["basic"]


def test_words_of_odd_text():
    assert words_of("Naïve\u00a0β-catenin \ufffd") == ["naïve", "β", "catenin"]
    assert re.fullmatch(r"\w+", "β")
