"""Hand-made files in the true formats of the event corpora, and small documents."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from reprlab.data.event_rows import Mention, event_row
from reprlab.data.schema import write_rows
from reprlab.events.documents import EventDocument, event_document

_WORDS = ["A", "bomb", "_", "went", "off", ".", "Three", "people", "were", "killed", "when", "it", "exploded"]
_WORDS += [",", "police", "said", "."]
_SENTENCES = [0, 0, 0, 0, 0, 0] + [1] * 11
_LINES = [
    f'<token t_id="{n}" sentence="{sentence}" number="{n}">{word}</token>'
    for n, (word, sentence) in enumerate(zip(_WORDS, _SENTENCES, strict=True), start=1)
]
_EVENTS = [
    ("ACTION_OCCURRENCE", (4, 5)), ("NEG_ACTION_OCCURRENCE", (10,)), ("ACTION_OCCURRENCE", (13,)),
    ("ACTION_REPORTING", (16,)), ("HUMAN_PART_PER", (8,)), ("ACTION_OCCURRENCE", ()),
]  # fmt: skip
_MARKABLES = [
    f'<{tag} m_id="{n}">' + "".join(f'<token_anchor t_id="{token}"/>' for token in tokens) + f"</{tag}>"
    for n, (tag, tokens) in enumerate(_EVENTS, start=1)
]
STORYLINE = (
    "<?xml version='1.0' encoding='UTF-8'?>\n<Document doc_name=\"1_1ecb.xml\">\n"
    + "\n".join(_LINES)
    + "<Markables>" + "".join(_MARKABLES) + "</Markables><Relations/></Document>"
).encode()  # fmt: skip
STORYLINE_PAIRS = b"4_5\t10\tPRECONDITION\n10\t13\tnull\n4_5\t16\tFALLING_ACTION\n"
STORYLINE_CHAINS = b"4_5 13\t10\tPRECONDITION\n"
STORYLINE_FILES = {
    "annotated_data/v0.9/1/1_1ecb.xml.xml": STORYLINE,
    "evaluation_format/full_corpus/v0.9/event_mentions_extended/1/1_1ecb.tab": STORYLINE_PAIRS,
    "evaluation_format/full_corpus/v0.9/coref_chain/1/1_1ecb.tab": STORYLINE_CHAINS,
}

MAVEN = json.dumps(
    {
        "id": "doc1",
        "title": "Expedition",
        "tokens": [["It", "was", "attacked", "."], ["The", "attack", "killed", "ten", "in", "1941", "."]],
        "sentences": ["It was attacked.", "The attack killed ten in 1941."],
        "events": [
            {"id": "E1", "type": "Attack", "type_id": 1, "mention": [
                {"id": "m1", "trigger_word": "attacked", "sent_id": 0, "offset": [2, 3]},
                {"id": "m2", "trigger_word": "attack", "sent_id": 1, "offset": [1, 2]}]},
            {"id": "E2", "type": "Killing", "type_id": 2, "mention": [
                {"id": "m3", "trigger_word": "killed", "sent_id": 1, "offset": [2, 3]}]},
        ],
        "TIMEX": [{"id": "T1", "type": "DATE", "mention": "1941", "sent_id": 1, "offset": [5, 6]}],
        "temporal_relations": {"BEFORE": [["E1", "E2"], ["T1", "E2"]], "CONTAINS": []},
        "causal_relations": {"CAUSE": [["E1", "E2"]], "PRECONDITION": []},
        "subevent_relations": [["E2", "E1"]],
    }
).encode()  # fmt: skip

RED_TEXT = "Rain fell hard. The river rose, and the flood destroyed homes.\n\nIt rose twice."


def _entity(number: int, *spans: tuple[int, int], kind: str = "EVENT") -> str:
    text = ";".join(f"{first},{end}" for first, end in spans)
    return (
        f"<entity><id>{number}@e@doc@gold</id><span>{text}</span><type>{kind}</type><parentsType>X</parentsType>"
        "<properties><DocTimeRel>BEFORE</DocTimeRel><Type>N/A</Type></properties></entity>"
    )


def _link(kind: str, head: int, tail: int, label: str) -> str:
    return (
        f"<relation><id>1@r@doc@gold</id><type>{kind}</type><properties><Source>{head}@e@doc@gold</Source>"
        f"<Type>{label}</Type><Target>{tail}@e@doc@gold</Target></properties></relation>"
    )


RED = (
    '<?xml version="1.0" encoding="UTF-8"?><data><info><progress>completed</progress></info>'
    '<schema path="./" protocol="file">RED-Relation</schema><annotations>'
    + _entity(1, (5, 9)) + _entity(2, (26, 30)) + _entity(3, (40, 45)) + _entity(4, (67, 71))
    + _entity(5, (72, 77), kind="TIMEX3")
    + "<relation><id>9@r@doc@gold</id><type>IDENT</type><properties><FirstInstance>2@e@doc@gold</FirstInstance>"
    "<Coreferring_String>4@e@doc@gold</Coreferring_String></properties></relation>"
    + _link("TLINK", 1, 2, "BEFORE/CAUSES") + _link("TLINK", 5, 4, "CONTAINS") + _link("ALINK", 1, 3, "BEGINS")
    + "</annotations></data>"
).encode()  # fmt: skip


def synset(offset: str, word: str, pointers: str, gloss: str) -> str:
    count = len(pointers.split()) // 4
    return f"{offset} 29 v 01 {word} 0 {count:03d} {pointers} 01 + 02 00 | {gloss}  \n".replace("  01", " 01")


VERBS = (
    "  1 This is the notice at the head of the file.  \n"
    + "".join(
        synset(
            f"{n:08d}",
            ["walk", "run", "go", "kill"][n % 4],
            f"@ {n - n % 4 + 2:08d} v 0000 > {n - n % 4 + 3:08d} v 0000" if n % 4 < 2 else "",
            f'to do {n}; "they {["walked", "were running", "went", "killed"][n % 4]} away {n} times"; "no verb"',
        )
        for n in range(40)
    )
).encode()
EXCEPTIONS = b"went go\nran run\n"


# Words of `finetune_fixtures.WORDS`, in sentences of several lengths: other words are all one id to its tokenizer.
_BEFORE = ["the", "very", "first"]
_TRIGGERS = ["good", "bad", "film", "coherent", "positive"]


def document(name: str = "d", split: str = "train", group: str = "1", size: int = 6) -> EventDocument:
    """A document of `size` sentences of three, four and five words, the last but one an event.

    Relations hold between mentions 0-1, 1-2 and so on; mentions 0 and 2 corefer. The first 15 sentences all differ.
    """
    return event_document({**row(name, group, size), "split": split})


def row(name: str, group: str, size: int, labels: Sequence[str] = ("ENTAILS", "CAUSE")) -> dict[str, Any]:
    """The row behind `document`."""
    sentences = [[*_BEFORE[: 1 + n % 3], _TRIGGERS[n % 5], "."] for n in range(size)]
    ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
    mentions = [Mention(f"m{n:02d}", (end - 2,), "verb", 0 if n in (0, 2) else -1) for n, end in enumerate(ends)]
    relations = [(f"m{n:02d}", f"m{n + 1:02d}", labels[n % 2]) for n in range(size - 1)]
    return event_row(name, group, sentences, mentions, relations, name)


def event_heads(one: EventDocument) -> np.ndarray:
    """[tokens] dependency heads: each sentence of `document` hangs on its event."""
    return np.repeat([trigger[0] for trigger in one.triggers], np.diff([*one.sentence_starts, len(one.tokens)]))


def write_documents(path: Path, counts: dict[str, int] | None = None) -> Path:
    """A table of documents of 4 to 7 mentions, one more of one mention in each split."""
    rows = []
    for split, count in (counts or {"train": 6, "validation": 2, "test": 3}).items():
        rows += [{**row(f"{split}{n}", str(n), 4 + n % 4), "split": split} for n in range(count)]
        rows.append({**row(f"{split}-alone", "9", 1), "split": split})
    write_rows(path, rows, "events", {"name": "toy", "title": "Toy"})
    return path
