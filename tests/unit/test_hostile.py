"""Nothing that is read from data, archives, models or settings runs code, leaves its folder or takes the machine down.

Refused members of archives (`..`, absolute paths, links, devices, absurd sizes) are in test_data_archives.py.
"""

import ast
import bz2
import gzip
import io
import json
import lzma
import os
import re
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
import zlib
from pathlib import Path

import pytest
from data_fixtures import corpus, entry_for, make_tgz, make_zip, opened, sources_of
from reprlab.config.papers import PAPERS
from reprlab.data.archives import Archive
from reprlab.data.documents import documents_of
from reprlab.data.downloads import listed_files, obtain
from reprlab.data.extraction import extract
from reprlab.data.readers import mediawiki
from reprlab.data.readers.r_austen import novels
from reprlab.data.wikitext import paragraphs
from reprlab.planning.stages import wildcard_constraints
from reprlab.registry.datasets import load_registry
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "workflow/reprlab"
SECONDS = 5.0


# Code


def _name(node: ast.expr) -> str:
    """`a.b.c` of a call's function."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else ["?"]), *reversed(parts)])


def _is_true(call: ast.Call, keyword: str) -> bool:
    values = [item.value for item in call.keywords if item.arg == keyword]
    return any(not (isinstance(value, ast.Constant) and value.value in (False, None)) for value in values)


def _is_false(call: ast.Call, keyword: str) -> bool:
    values = [item.value for item in call.keywords if item.arg == keyword]
    return any(isinstance(value, ast.Constant) and value.value is False for value in values)


FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "torch.load", "pandas.read_pickle"}
FORBIDDEN_CALLS |= {"subprocess.getoutput", "subprocess.getstatusoutput", "yaml.unsafe_load", "yaml.full_load"}


def offences(source: str) -> list[str]:
    """What in a module could run what it reads."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [f"imports {name}" for name in names if name.split(".")[0] in FORBIDDEN_MODULES]
        if not isinstance(node, ast.Call):
            continue
        name = _name(node.func)
        if name in FORBIDDEN_CALLS or name.endswith(".extractall"):
            found.append(f"calls {name}")
        if name in ("yaml.load", "yaml.load_all", "yaml.compose"):
            loader = next((item.value for item in node.keywords if item.arg == "Loader"), None)
            if "safe" not in ast.unparse(loader).lower() if loader else True:
                loaders = {"loader", "_Loader"}  # each module's own choice between the two safe ones
                if not (isinstance(loader, ast.Name) and loader.id in loaders and safe_loader(source, loader.id)):
                    found.append(f"calls {name} without a safe loader")
        if name in ("numpy.load", "np.load") and _is_true(node, "allow_pickle"):
            found.append(f"calls {name} with allow_pickle")
        # The default reads a pickle where there is nothing else.
        guarded = _is_true(node, "use_safetensors") or _is_true(node, "weights_only") or loads_no_weights(name)
        if name.endswith((".from_pretrained", ".from_config")) and not _is_false(node, "trust_remote_code"):
            found.append(f"calls {name} without trust_remote_code=False")
        if name.endswith(".from_pretrained") and not guarded:
            found.append(f"calls {name} without use_safetensors")
        found += [f"passes {flag} to {name}" for flag in ("shell", "trust_remote_code") if _is_true(node, flag)]
    return found


def loads_no_weights(name: str) -> bool:
    """Tokenizers and configurations are text; PEFT reads tensors alone and has no such option."""
    return name.rpartition(".")[0].endswith(("Tokenizer", "Config", "PeftModel"))


def safe_loader(source: str, name: str) -> bool:
    given = re.findall(rf"^\s*{name} = (.*)$", source, flags=re.M)
    return given == ['getattr(yaml, "CSafeLoader", yaml.SafeLoader)']


def test_the_package_runs_nothing_that_it_reads() -> None:
    modules = sorted(PACKAGE.rglob("*.py"))
    assert len(modules) > 100
    found = {str(path.relative_to(ROOT)): offences(path.read_text(encoding="utf-8")) for path in modules}
    assert {path: items for path, items in found.items() if items} == {}


@pytest.mark.parametrize(
    "source",
    [
        "import pickle", "from joblib import load", "import torch\ntorch.load('x')", "eval('1')",
        "import yaml\nyaml.load(text)", "import yaml\nyaml.load(text, Loader=yaml.Loader)",
        "import yaml\nloader = yaml.Loader\nyaml.load(text, Loader=loader)",
        "import subprocess\nsubprocess.run('x', shell=True)", "f(trust_remote_code=True)", "f(trust_remote_code=given)",
        "import numpy as np\nnp.load('x', allow_pickle=True)", "AutoModel.from_pretrained('x')", "tar.extractall('x')",
        "AutoTokenizer.from_pretrained('x')", "AutoTokenizer.from_pretrained('x', trust_remote_code=None)",
        "AutoConfig.from_pretrained('x', **options)", "AutoModel.from_config(config)",
        "AutoModel.from_pretrained('x', use_safetensors=True)",
        "AutoModel.from_pretrained('x', trust_remote_code=False)",
    ],
)  # fmt: skip
def test_the_scan_finds(source: str) -> None:
    assert offences(source)


def test_weights_are_read_from_safetensors_only(tmp_path: Path) -> None:
    """A model folder whose weights are a pickle that would run code is refused, and the code does not run."""
    torch = pytest.importorskip("torch")
    from reprlab.models.build import load_model

    witness = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (os.system, (f"touch {witness}",))

    folder = tmp_path / "model"
    folder.mkdir()
    config = {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": 8, "d_ff": 8, "d_kv": 4}
    config |= {"num_layers": 1, "num_heads": 2, "vocab_size": 32, "decoder_start_token_id": 0}
    (folder / "config.json").write_text(json.dumps(config))
    torch.save({"shared.weight": Evil()}, folder / "pytorch_model.bin")
    with pytest.raises(ReprlabError) as caught:
        load_model(folder)
    assert str(folder) in str(caught.value)
    assert not witness.exists()


EVIL_TOKENIZER = """
import pathlib
pathlib.Path({witness!r}).touch()
class Evil:
    pass
"""


@pytest.mark.parametrize("opener", ["text.tokenizer_folder.open_tokenizer", "models.build.load_model"])
def test_code_in_a_folder_is_not_run_whatever_standard_input_says(tmp_path: Path, opener: str) -> None:
    witness, folder = tmp_path / "ran", tmp_path / "folder"
    folder.mkdir()
    classes = {"AutoTokenizer": ["evil.Evil", "evil.Evil"], "AutoConfig": "evil.Evil", "AutoModel": "evil.Evil"}
    about = {"auto_map": classes, "model_type": "evil", "architectures": ["T5ForConditionalGeneration"]}
    (folder / "config.json").write_text(json.dumps(about))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": classes, "tokenizer_class": "Evil"}))
    (folder / "evil.py").write_text(EVIL_TOKENIZER.format(witness=str(witness)))
    module, _, name = opener.rpartition(".")
    script = f"from pathlib import Path\nfrom reprlab.{module} import {name}\n{name}(Path({str(folder)!r}))"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(
        [sys.executable, "-c", script], input="y\n" * 9, env=environment, text=True, capture_output=True, check=False
    )
    assert "ReprlabError: " + str(folder) in done.stderr
    assert not witness.exists()


# Files


def test_a_name_in_the_data_does_not_lead_out_of_the_cache(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("private/nn ./.\n")
    way = os.path.relpath(secret, tmp_path / "cache" / ("0" * 64) / "members" / "package")
    archive = make_tgz(tmp_path / "a.tgz", {"package/cats.txt": f"{way} news\n".encode()})
    with pytest.raises(ReprlabError, match="not a path inside the archive"):
        list(documents_of(corpus(reader="brown", options={}), sources_of(archive, tmp_path / "cache")))


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "a\x00b"])
def test_a_member_is_below_its_archive(tmp_path: Path, name: str) -> None:
    archive = opened(make_zip(tmp_path / "a.zip", {"a": b"x"}), tmp_path / "cache")
    with pytest.raises(ReprlabError):
        archive.member(name)


def test_a_list_of_files_names_no_other_place(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("../../etc/passwd\n")
    entry = entry_for(path, [], listed="tasks/{}.json")
    obtain(entry, entry.files[0], tmp_path / "cache")
    with pytest.raises(ReprlabError, match=r"list\.txt: lists '\.\./\.\./etc/passwd'"):
        listed_files(entry, tmp_path / "cache")


def test_a_receipt_names_no_other_place(tmp_path: Path) -> None:
    receipt = tmp_path / "receipt.json"
    facts = {
        "archive": "x",
        "licence": "",
        "members": [],
        "member_limit": 1,
        "files": [{"file": "../x", "sha256": "0" * 64, "bytes": 1}],
    }
    receipt.write_text(json.dumps(facts))
    with pytest.raises(ReprlabError, match="not a receipt"):
        Archive.open(tmp_path, receipt)


# Sizes and times: each of these files is small and means to be large.


def test_a_bomb_in_a_zip_stops_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(50 * 2**20))
    assert path.stat().st_size < 2**20
    with pytest.raises(ReprlabError, match="limit"):
        extract(path, ["a"], tmp_path / "out", 2**20)
    assert sum(file.stat().st_size for file in (tmp_path / "out").rglob("*") if file.is_file()) == 0


def test_a_million_members_that_nobody_wants_are_passed_over(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for number in range(20_000):
            archive.addfile(tarfile.TarInfo(f"f{number}"))
        info = tarfile.TarInfo("wanted")
        archive.addfile(info)
    path = tmp_path / "a.tgz"
    path.write_bytes(buffer.getvalue())
    began = time.process_time()
    extract(path, ["wanted"], tmp_path / "out", 10)
    assert time.process_time() - began < SECONDS
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["wanted"]


def bomb(kind: str) -> bytes:
    """A tar with one header, or many, that tarfile would read into memory."""
    if kind == "long name":
        return header("././@LongLink", b"L", 256 * 2**20) + bytes(256 * 2**20)
    if kind == "extended header":
        size = 256 * 2**20
        record = b"%d comment=" % size
        return header("pax", b"x", size) + record + b"a" * (size - len(record) - 1) + b"\n"
    if kind == "digits":
        return header("pax", b"x", 2**20) + b"1" * 2**20
    if kind == "headers of headers":
        return (header("pax", b"x", 512) + b"11 path=abc\n".ljust(512, b"\0")) * 5000
    if kind == "sparse map":
        record = b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n"
        size = 64 * 2**20
        text = b"%d\n" % (size // 4) + b"0\n" * (size // 2)
        return header("pax", b"x", len(record)) + record.ljust(512, b"\0") + header("a", b"0", size) + text[:size]
    return b"".join(header("pax", b"g", 16384) + b"16384 k%06d=" % n + b"a" * (16384 - 15) + b"\n" for n in range(5000))


def header(name: str, kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.USTAR_FORMAT)


@pytest.mark.parametrize(
    "kind", ["long name", "extended header", "digits", "headers of headers", "sparse map", "global headers"]
)
def test_a_header_that_is_a_bomb_takes_neither_memory_nor_time(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.tgz"
    path.write_bytes(gzip.compress(bomb(kind), 9))
    script = (
        "import resource, sys; from pathlib import Path; from reprlab.data.extraction import extract\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"try: extract(Path({str(path)!r}), ['wanted'], Path({str(tmp_path / 'out')!r}), 10**6)\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environment, check=True
    )
    line, kilobytes = done.stdout.splitlines()
    assert line.startswith("ReprlabError") and str(path) in line
    assert int(kilobytes) < 64 * 2**10
    assert time.monotonic() - began < SECONDS


def test_a_tar_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.xz"
    path.write_bytes(lzma.compress(header("a", b"0", 128 * 2**20) + bytes(128 * 2**20)))
    with pytest.raises(ReprlabError, match=r"a\.tar\.xz: unpacks to more than 200 times its size"):
        extract(path, ["b"], tmp_path / "out", 10)


def test_a_page_without_end_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediawiki, "_LONGEST_PAGE", 2**20)
    export = b"<mediawiki><page><revision><text>" + b"a" * (20 * 2**20)
    sources = sources_of(make_zip(tmp_path / "a.zip", {"x.bz2": bz2.compress(export)}), tmp_path / "cache")
    with pytest.raises(ReprlabError, match="a page of more than 1048576 bytes"):
        list(documents_of(corpus(reader="mediawiki", options={"member": "x.bz2"}), sources))


def test_entities_do_not_multiply(tmp_path: Path) -> None:
    """The billion laughs: a few hundred bytes of XML that expand to gigabytes."""
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    export = f'<!DOCTYPE a [<!ENTITY l0 "laugh">{entities}]><mediawiki><page><text>&l11;</text></page></mediawiki>'
    sources = sources_of(make_zip(tmp_path / "a.zip", {"x.bz2": bz2.compress(export.encode())}), tmp_path / "cache")
    began = time.process_time()
    with pytest.raises(ReprlabError, match="not a MediaWiki export"):
        list(documents_of(corpus(reader="mediawiki", options={"member": "x.bz2"}), sources))
    assert time.process_time() - began < SECONDS


def test_an_entity_reads_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("private " * 200)
    export = (
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]><mediawiki><page><title>t</title><ns>0</ns><id>1</id>'
        "<revision><text>&x;</text></revision></page></mediawiki>"
    )
    sources = sources_of(make_zip(tmp_path / "a.zip", {"x.bz2": bz2.compress(export.encode())}), tmp_path / "cache")
    with pytest.raises(ReprlabError) as caught:
        list(documents_of(corpus(reader="mediawiki", options={"member": "x.bz2"}), sources))
    assert "private" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "<ref>" * 40_000,
        "<!--" * 50_000,
        "{{" * 100_000 + "}}" * 100_000,
        "[[" * 100_000 + "]]" * 100_000,
        "{|" * 100_000,
        "[//" + "a" * 200_000,
        "[// " + "a [" * 60_000,
        "==" + " " * 100_000 + "x",
        "<br" + " " * 200_000,
        "(" + " ," * 100_000,
        "&amp;" * 40_000,
    ],
    ids=lambda text: text[:6].strip(),
)
def test_mark_up_made_to_be_slow_is_not(text: str) -> None:
    began = time.process_time()
    paragraphs(text, 8)
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("declared", [10, 2**32 - 1])
def test_a_record_unpacks_to_no_more_than_it_says(tmp_path: Path, declared: int) -> None:
    path = tmp_path / "a.rdb"
    path.write_bytes(struct.pack(">I", declared) + zlib.compress(bytes(100 * 2**20)))
    with pytest.raises(ReprlabError, match="not a database of R data"):
        list(novels(path))


def test_shards_without_number_are_refused(tmp_path: Path) -> None:
    text = (ROOT / "config/datasets.yaml").read_text(encoding="utf-8")
    changed = re.sub(r"shards: \d+", "shards: 999999999999", text, count=1)
    assert changed != text
    path = tmp_path / "datasets.yaml"
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(ReprlabError, match="shards"):
        load_registry(path)


# Names


NAMES = [
    "$(touch x)",
    "`touch x`",
    "a; touch x",
    "a|touch x",
    "a&&touch x",
    "../x",
    "a b",
    "-rf",
    "a'b",
    'a"b',
    "a\nb",
    "",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "edit",
    ["papers.depth.pretraining.model={}", "papers.depth.data.corpus={}",
     "papers.depth.finetuning.tasks.sst2.dataset={}",
     "papers.depth.pretraining.optimizer.name={}", "numerics.dtype={}", "build=[{}]", "run={}", "scale={}",
     "runtime.device={}", "runtime.log_level={}"],
)  # fmt: skip
def test_a_name_that_a_shell_would_run_is_refused(edit: str, name: str) -> None:
    from reprlab.config.load import load_config

    path, value = edit.split("=")
    quoted = value.format(json.dumps(name))
    with pytest.raises(ReprlabError) as caught:
        load_config(ROOT, {"scale": "nano", "set": f"{path}={quoted}"} if path != "scale" else {"scale": name})
    assert "\n" not in str(caught.value)


def test_a_key_that_a_shell_would_run_is_refused() -> None:
    from reprlab.config.load import load_config

    tasks = {"$(touch x)": {"dataset": "movie_snippets", "input_length": 48, "target_length": 12, "batch_size": 4}}
    with pytest.raises(ReprlabError):
        load_config(ROOT, {"scale": "nano", "papers": {"depth": {"finetuning": {"tasks": tasks}}}})
    with pytest.raises(ReprlabError):
        runs = {"a;b": {"steps": 4, "horizon_steps": 4, "ladder": [2]}}
        load_config(ROOT, {"scale": "nano", "papers": {"depth": {"pretraining": {"runs": runs}}}})


@pytest.mark.parametrize("section", ["archives", "corpora", "tasks"])
def test_a_registry_entry_that_a_shell_would_run_is_refused(tmp_path: Path, section: str) -> None:
    import yaml

    raw = yaml.safe_load((ROOT / "config/datasets.yaml").read_text(encoding="utf-8"))
    raw[section]["$(touch x)"] = next(iter(raw[section].values()))
    path = tmp_path / "datasets.yaml"
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")
    with pytest.raises(ReprlabError, match=r"datasets\.yaml"):
        load_registry(path)


def test_a_model_that_a_shell_would_run_is_refused(tmp_path: Path) -> None:
    import yaml
    from reprlab.registry.models import load_models

    raw = yaml.safe_load((ROOT / "config/models.yaml").read_text(encoding="utf-8"))
    raw["$(touch x)"] = next(iter(raw.values()))
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump(raw), encoding="utf-8")
    with pytest.raises(ReprlabError, match=r"models\.yaml"):
        load_models(path)


def test_no_text_of_the_settings_is_on_a_command_line() -> None:
    """A job's free text (templates, titles) is in the plan; a key has the letters of the wildcards' constraints."""
    rules = (ROOT / "workflow/rules/jobs.smk").read_text()
    options = re.search(r"^OPTIONS = \((.+?)^\)", rules, flags=re.M | re.S)
    named = {"RUNTIME.device", "RUNTIME.save_every", "RUNTIME.inference_batch", "RUNTIME.log_level"}
    named |= {"RUNTIME.accumulation", "RUNTIME.activation_checkpointing:d"}
    assert set(re.findall(r"{([^}]+)}", options[1])) == named
    given = re.search(r"given = \(?\s*\"(--plan .+)\"", rules)
    assert set(re.findall(r"{([^}]+)}", given[1])) == {"params.plan", "params.key", "threads", "params.options"}
    for wildcard, allowed in wildcard_constraints(PAPERS).items():
        assert not re.fullmatch(allowed, "a; touch x") and not re.fullmatch(allowed, "$(x)"), wildcard
