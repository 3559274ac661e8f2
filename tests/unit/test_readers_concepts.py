"""Readers of graphs, glosses, definitions and tagged sentences; entities and how they are scored."""

from pathlib import Path

import pytest
import torch
from finetune_fixtures import make_examples
from reader_cases import ASSERTIONS, CASES, NOUNS, ONTOLOGY, Planted
from reprlab.data.readers import wordnet_entities
from reprlab.evaluation.entities import entities
from reprlab.evaluation.metrics import score
from reprlab.runtime.errors import ReprlabError
from transformers import BertConfig
from transformers.modeling_outputs import TokenClassifierOutput


def rows_of(name, content, tmp_path):
    case = CASES[name]
    path = tmp_path / f"main.{case.suffix}"
    path.write_bytes(case.wrap(content))
    return case.read(path)


def test_a_graph_of_wordnet_has_synonyms_and_pointers(tmp_path):
    texts = [row["text"] for row in rows_of("wordnet_graph", NOUNS, tmp_path)]
    assert texts == ["dog\tdomestic dog\nanimal", "animal"]


def test_glosses_are_text(tmp_path):
    assert [row["text"] for row in rows_of("wordnet_text", NOUNS, tmp_path)] == [
        'a pet; "the dog"',
        "a thing that lives",
    ]


def test_definitions_without_their_sources(tmp_path):
    assert [(row["id"], row["text"]) for row in rows_of("ontology_definitions", ONTOLOGY, tmp_path)] == [
        ("HP:1", 'A "wide" hand.')
    ]


def test_conceptnet_gives_the_term_and_not_its_part_of_speech(tmp_path):
    """Spec 9: the code it builds on reads `/c/en/abandon/v` as "v"."""
    assert [row["text"] for row in rows_of("conceptnet", ASSERTIONS, tmp_path)] == ["domestic dog\nanimal"]
    with pytest.raises(ReprlabError, match="line 1 has 2 cells"):
        rows_of("conceptnet", b"/a/1\t/r/IsA\n", tmp_path)


def test_tagged_sentences_keep_their_document(tmp_path):
    rows = rows_of("column_tags", CASES["column_tags"].good, tmp_path)
    assert [(row["tokens"], row["tags"], row["group"]) for row in rows] == [
        (["EU", "runs"], ["B-X", "O"], "train-main-d1"),
        (["It"], ["O"], "train-main-d1"),
    ]
    with pytest.raises(ReprlabError, match="line 2 has 3 columns"):
        rows_of("column_tags", b"a b c O\na b c\n", tmp_path)


def test_words_of_one_topic_are_tagged_where_nothing_was_pre_trained(tmp_path):
    import pyarrow
    from reprlab.artifacts.tables import write_parquet
    from reprlab.data.sources import Sources
    from reprlab.registry.dataset_entries import SplitSettings

    nouns = NOUNS + b"00000003 06 n 01 animal 0 000 | a toy  \n00000004 05 n 01 As 0 000 | a symbol  \n"
    (tmp_path / "data.noun").write_bytes(nouns)
    sentences = [["As domestic dog, a Dog dog."], ["dog"]]
    table = {"document": ["d1", "d2"], "split": ["test", "train"], "sentences": sentences}
    write_parquet(tmp_path / "s.parquet", pyarrow.table(table))
    planted = Planted({"data.noun": tmp_path / "data.noun"}, "data.noun")
    settings = wordnet_entities.Settings(data="data.noun", topics=["animal"])
    (row,) = wordnet_entities.read(Sources({"w": planted}, [Path(tmp_path / "s.parquet")]), settings, SplitSettings())
    # "animal" is a toy as well, "As" too short, and "Dog" is not how WordNet writes it.
    assert row["tags"] == ["O", "B-ANIMAL", "I-ANIMAL", "O", "O", "O", "B-ANIMAL", "O"]


def test_entities_as_conlleval_counts_them():
    assert entities(["B-X", "I-X", "B-X", "I-Y", "O", "I-X"]) == {(0, 2, "X"), (2, 3, "X"), (3, 4, "Y"), (5, 6, "X")}
    assert entities(["B", "I", "B", "O"]) == {(0, 2, ""), (2, 3, "")} and entities([]) == set()


def test_the_known_answer_of_the_specification():
    """5.7: one of two entities with both ends right; counted by tokens it would be 0.8."""
    gold, predicted = [["B", "I", "O", "B"]], [["B", "O", "O", "B"]]
    assert score("entity_f1", gold, predicted) == 50 and score("entity_f1", gold, gold) == 100
    assert score("entity_precision", gold, predicted) == score("entity_recall", gold, predicted) == 50
    assert score("tag_f1", gold, predicted) == pytest.approx(80)
    assert score("entity_f1", [["O"]], [["O"]]) == 0


def tagger_of(tmp_path, tokens, tags, pieces, length=16, labels=("O", "B", "I")):
    """The head of a tagger, and a split of one sentence."""
    from reprlab.evaluation.examples import load_examples
    from reprlab.text.tokenizer_folder import open_tokenizer
    from reprlab.training.finetuning_heads import EncoderHead
    from reprlab.training.finetuning_settings import TaskSettings
    from transformers import BertTokenizerFast

    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b", "##b", "##c"])
    )
    BertTokenizerFast(vocab=str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    examples = make_examples(tmp_path / "e.parquet", "tags", [{"tokens": tokens, "tags": tags}], list(labels))
    settings = TaskSettings(kind="tags", metrics=["entity_f1"], input_length=length, tag_pieces=pieces)
    head = EncoderHead(settings, labels, open_tokenizer(tmp_path), tmp_path)
    return head, head.encode(load_examples(examples, ["train"], {})["train"])


def answers(head, split):
    """Tags of a tagger to which `a` is outside and every other piece begins an entity."""

    class Known(torch.nn.Module):
        config = BertConfig()

        def forward(self, input_ids, **_):
            begins = torch.nn.functional.one_hot((input_ids != 5).long(), 2).float()
            order = [head.number["O"], head.number["B"]]
            logits = torch.zeros(*input_ids.shape, len(head.labels)).index_copy(-1, torch.tensor(order), begins)
            return TokenClassifierOutput(logits=logits)

    return head.predict(Known(), split, "", 4, torch.device("cpu"))


def test_a_word_of_three_pieces_is_one_entity(tmp_path):
    """Spec 5.8 and trap 12: labelled at all of its pieces and scored by pieces, it would be three."""
    gold = {}
    for pieces in ("first", "words", "all"):
        _, split = tagger_of(tmp_path, ["a", "abc"], ["O", "B"], pieces)
        gold[pieces] = split.gold[0]
        assert split.targets.flat.tolist() == [-100, 0, 1, *([-100, -100] if pieces == "first" else [1, 1]), -100]
    assert len(entities(gold["first"])) == 1 and len(entities(gold["all"])) == 3
    assert gold["words"] == gold["first"] == ["O", "B"]


@pytest.mark.parametrize("pieces", ["first", "words", "all"])
def test_a_word_without_a_piece_moves_no_tag(tmp_path, pieces):
    """A zero-width space has none; what follows it is answered at its own place, by words."""
    head, split = tagger_of(tmp_path, ["a", "\u200b", "b", "a", "b"], ["O", "O", "B", "O", "B"], pieces)
    (found,) = answers(head, split)
    assert found == split.gold[0] == (["O", "O", "B", "O", "B"] if pieces != "all" else ["O", "B", "O", "B"])


@pytest.mark.parametrize("labels", [("O", "B", "I"), ("B", "I", "O")])
@pytest.mark.parametrize("pieces", ["first", "words", "all"])
def test_an_entity_behind_the_cut_is_missed(tmp_path, pieces, labels):
    """Room for three of five words: the last entity is answered O, and recall is a half."""
    tags = ["B", "O", "O", "O", "B"]
    head, split = tagger_of(tmp_path, ["b", "a", "a", "a", "b"], tags, pieces, length=8, labels=labels)
    assert answers(head, split) == split.gold == [tags]
    head, split = tagger_of(tmp_path, ["b", "a", "a", "a", "b"], tags, pieces, length=5, labels=labels)
    found = answers(head, split)
    assert (split.gold, found) == ([tags], [["B", "O", "O", "O", "O"]])
    assert score("entity_recall", split.gold, found) == 50 and score("entity_precision", split.gold, found) == 100
