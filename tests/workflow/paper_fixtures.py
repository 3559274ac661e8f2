"""Hand-made data in the formats of DEPTH's published sources, a few rows each, and registries that name it."""

import gzip
import hashlib
import io
import json
import random
import re
import struct
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import yaml
from reprlab.data.splits import position

WORDS = [
    "the",
    "a",
    "small",
    "old",
    "cat",
    "dog",
    "boat",
    "river",
    "book",
    "house",
    "garden",
    "child",
    "reads",
    "sees",
    "finds",
    "crosses",
    "loves",
    "paints",
    "slowly",
]
PIECES = 32_000
LABEL_WORDS = [
    "unacceptable",
    "acceptable",
    "entailment",
    "neutral",
    "contradiction",
    "First",
    "Second",
    "Third",
    "Fourth",
    "Fifth",
    "sentence",
]
# One layer, and narrow: the class, the gate, the untied output and 32,128 rows stay, so does every line that runs.
SHAPE = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_heads": 2, "num_layers": 1, "num_decoder_layers": 1}


def sentence(rng: random.Random) -> str:
    # Punkt takes a single letter before a full stop for an initial, so no sentence ends with an article.
    words = [*rng.choices(WORDS, k=rng.randint(3, 8)), rng.choice(WORDS[2:])]
    return " ".join(words).capitalize() + "."


def text(rng: random.Random, sentences: int) -> str:
    return " ".join(sentence(rng) for _ in range(sentences))


def c4(folder: Path, rng: random.Random) -> None:
    """Gzipped JSON lines of text, timestamp and url."""
    names = ["c4-train.00000-of-01024", "c4-train.00001-of-01024", "c4-validation.00000-of-00008"]
    for name in names:
        lines = [
            json.dumps({"text": text(rng, 8), "timestamp": "2019-04-25T12:57:54Z", "url": f"http://a.b/{name}/{n}"})
            for n in range(10)
        ]
        path = folder / "en" / f"{name}.json.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))


def glue(folder: Path, rng: random.Random) -> None:
    """The hub's Parquet files with their types: label int64, idx int32, -1 for no label in test files."""
    columns = {"cola": (["sentence"], 2), "sst2": (["sentence"], 2), "mnli": (["premise", "hypothesis"], 3)}
    for task, (texts, labels) in columns.items():
        splits = ["train", "validation"] if task != "mnli" else ["train", "validation_matched", "validation_mismatched"]
        for split in splits:
            rows = 12 if split == "train" else 6
            table = {name: pyarrow.array([sentence(rng) for _ in range(rows)]) for name in texts}
            table["label"] = pyarrow.array([n % labels for n in range(rows)], pyarrow.int64())
            table["idx"] = pyarrow.array(range(rows), pyarrow.int32())
            path = folder / task / f"{split}-00000-of-00001.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pyarrow.parquet.write_table(pyarrow.table(table), path)


def discoeval(folder: Path, rng: random.Random) -> None:
    """Label and sentences, separated by tabs."""
    for task, count, labels in (
        ("SP/arxiv", 5, 5),
        ("SP/wiki", 5, 5),
        ("SP/rocstory", 5, 5),
        ("DC/chat", 6, 2),
        ("DC/wiki", 6, 2),
    ):
        for name in ("train", "valid", "test"):
            lines = ["\t".join([str(n % labels), *(sentence(rng) for _ in range(count))]) for n in range(10)]
            path = folder / "data" / task / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def natural_instructions(folder: Path, rng: random.Random) -> None:
    """A JSON file a task, and the lists of the default split."""
    for split, names in {"train": ["task001_toy", "task002_toy"], "test": ["task003_toy"]}.items():
        path = folder / "splits/default" / f"{split}_tasks.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(names) + "\n", encoding="utf-8")
        for name in names:
            examples = [{"input": sentence(rng), "output": "cat", "explanation": "It says so."} for _ in range(3)]
            instances = [
                {"id": f"{name}-{n}", "input": sentence(rng), "output": [rng.choice(WORDS)]} for n in range(20)
            ]
            # One instance in a hundred is set aside for validation by the hash of its id; the first is one of those.
            instances[0]["id"] = next(
                one for one in map(f"{name}-{{}}".format, range(10_000)) if position(0, one) < 0.01
            )
            content = {
                "Contributors": ["A"], "Source": ["toy"], "Categories": ["Question Answering"],
                "Definition": ["Name the animal of the text."], "Input_language": ["English"],
                "Positive Examples": examples, "Negative Examples": [], "Instances": instances,
            }  # fmt: skip
            task = folder / "tasks" / f"{name}.json"
            task.parent.mkdir(parents=True, exist_ok=True)
            task.write_text(json.dumps(content), encoding="utf-8")


def sentencepiece_model(rng: random.Random) -> bytes:
    """A Unigram model of T5's 32,000 pieces: a few are learnt, the others appended as records of its file format."""
    import sentencepiece

    learnt = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([sentence(rng) for _ in range(200)]), model_writer=learnt, model_type="unigram",
        vocab_size=90, hard_vocab_limit=False, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, num_threads=1, minloglevel=2,
    )  # fmt: skip
    content = learnt.getvalue()
    known = sentencepiece.SentencePieceProcessor(model_proto=content).get_piece_size()
    for number in range(known, PIECES):
        # Words of labels are pieces of their own, as nearly all are in T5's vocabulary: targets are short.
        word = LABEL_WORDS[number - known] if number - known < len(LABEL_WORDS) else f"filler{number}"
        name = f"\u2581{word}".encode()
        record = b"\x0a" + bytes([len(name)]) + name + b"\x15" + struct.pack("<f", -5.0)
        content += b"\x0a" + bytes([len(record)]) + record
    return content


def hub_model(home: Path, repository: str, revision: str, config: dict[str, Any], rng: random.Random) -> None:
    """A repository as the hub's client keeps it: T5's files, SentencePiece model and no tokenizer.json."""
    import torch
    from reprlab.models.build import save_model
    from transformers import T5Config, T5ForConditionalGeneration

    folder = home / "hub" / f"models--{repository.replace('/', '--')}"
    files = folder / "snapshots" / revision
    files.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs/main").write_text(revision)
    torch.manual_seed(0)
    # What the published config.json says besides the numbers of the registry.
    published = {"tie_word_embeddings": False, "dropout_rate": 0.1, "decoder_start_token_id": 0}
    model = T5ForConditionalGeneration(T5Config(**{**config, **published}))
    save_model(model, files)
    sentinels = [f"<extra_id_{number}>" for number in range(100)]
    names = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>", "additional_special_tokens": sentinels}
    (files / "spiece.model").write_bytes(sentencepiece_model(rng))
    (files / "special_tokens_map.json").write_text(json.dumps(names))
    (files / "tokenizer_config.json").write_text(json.dumps({**names, "extra_ids": 100}))


def punkt(folder: Path) -> None:
    """NLTK's punkt_tab, English, with a handful of entries."""
    target = folder / "tokenizers/punkt_tab/english"
    target.mkdir(parents=True)
    (target / "abbrev_types.txt").write_text("mr\ndr\ne.g\n")
    (target / "collocations.tab").write_text("##number##\tth\n")
    (target / "sent_starters.txt").write_text("the\na\n")
    (target / "ortho_context.tab").write_text("the\t46\nboat\t32\n")


def edit_registries(root: Path, folder: Path) -> tuple[str, str]:
    """Let the registries of the checkout `root` name the files in `folder`; returns the hub model and its revision.

    Only what a digest, a size or a number of shards says is changed, and hub data sets get a local origin; github ones
    are looked up in the mirror.
    """
    path = root / "config/datasets.yaml"
    registry = yaml.safe_load(path.read_text(encoding="utf-8"))
    for name, archive in registry["archives"].items():
        if name == "c4_en":
            archive["files"][0]["shards"] = 2
        if name in ("c4_en", "glue"):
            archive["origins"] = [f"local:{folder / name}"]
        if name.startswith("discoeval"):
            for file in archive["files"]:
                content = (folder / "mirror/github/ZeweiChu/DiscoEval" / file["file"]).read_bytes()
                if "git_blob" in file:
                    blob = f"blob {len(content)}\0".encode() + content
                    file["git_blob"] = hashlib.sha1(blob, usedforsecurity=False).hexdigest()
                else:
                    file.update(sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
    path.write_text(yaml.safe_dump(registry, sort_keys=False), encoding="utf-8")
    path = root / "config/models.yaml"
    models = path.read_text(encoding="utf-8")
    head, base, rest = models.partition("t5_v1_1_base:")
    end = rest.index("source:")
    entry = rest[:end]
    for name, value in SHAPE.items():
        entry, count = re.subn(rf"{name}: \d+", f"{name}: {value}", entry)
        assert count == 1, name
    path.write_text(head + base + entry + rest[end:], encoding="utf-8")
    origin = yaml.safe_load(path.read_text(encoding="utf-8"))["t5_v1_1_base_pretrained"]["origin"]
    return origin["repository"], origin["revision"]


def make_sources(folder: Path) -> None:
    """All data files."""
    rng = random.Random(0)
    c4(folder / "c4_en", rng)
    glue(folder / "glue", rng)
    discoeval(folder / "mirror/github/ZeweiChu/DiscoEval", rng)
    natural_instructions(folder / "mirror/github/allenai/natural-instructions", rng)
    punkt(folder / "nltk_data")
