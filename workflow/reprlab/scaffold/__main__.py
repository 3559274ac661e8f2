"""Write the files of a new paper (`make new PAPER=…`), model (`MODEL=… LIKE=…`) or task (`TASK=… FILE=…`)."""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from reprlab.data.sources import tab_rows
from reprlab.runtime.errors import ReprlabError, told_in_one_line
from reprlab.runtime.folders import checkout_root
from reprlab.scaffold.blocks import Block, Texts, blocks_of
from reprlab.settings.errors import nearest
from reprlab.settings.yaml_text import read_keys

_MODELS, _DATASETS = "config/models.yaml", "config/datasets.yaml"
_SLUG, _NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*", r"[a-z][a-z0-9_]{0,63}"
_MOST_LABELS = 100
# What is written from the settings of all papers.
_GENERATED = {
    "config/schema.json": "reprlab.config.schema",
    "resources/planned_jobs.tsv": "reprlab.preflight.planned_jobs",
}
_PAGE = """# {slug}

Written by `make new PAPER={slug}`; nothing on this page is measured yet.

## Claim

## Stages

## Model, data and task: how to change them

## Deviations and their reasons

## Defects found in the original

## Minutes and memory
"""


def new_paper(texts: Texts, slug: str) -> str:
    """Settings, schema, plan, results, printed values and page of a paper; returns what to do next.

    Raises:
        ReprlabError: the name is not a slug, or a file of it exists.
    """
    _check(slug, _SLUG, "words of small letters and digits, with hyphens between, such as my-paper")
    module, camel = slug.replace("-", "_"), "".join(word.capitalize() for word in slug.split("-"))

    def named(text: str) -> str:
        text = text.replace("the worked example of docs/adding.md", f"the paper {slug}")
        text = text.replace("the worked example", f"the paper {slug}").replace(" (slug `sentiment`)", "")
        text = re.sub(r"(?<=papers[./])sentiment(?=[./ ])(?!\.yaml)", module, text)
        return text.replace("Sentiment", camel).replace("sentiment", slug)

    for block in blocks_of(texts.root, "A paper"):
        if "file" in block.options:
            options = {**block.options, "file": named(block.options["file"])}
            texts.apply(Block(block.language, options, named(block.text)))
    texts.create(f"docs/papers/{slug}.md", _PAGE.format(slug=slug))
    texts.create(f"workflow/reprlab/papers/{module}/__init__.py", f'"""The paper {slug}."""\n')
    for name, text in texts.changed.items():
        texts.changed[name] = _with_sorted_imports(text)
    return f"make {slug} SCALE=nano ARGS=--dry-run; then the checklist of docs/adding.md, A paper"


def new_model(texts: Texts, name: str, like: str) -> str:
    """An entry of config/models.yaml with the values of another; returns what to do next.

    Raises:
        ReprlabError: the name is none for a model or is taken, or there is no model `like`.
    """
    _check(name, _NAME, "small letters, digits and underscores")
    text = texts.read(_MODELS)
    known = list(read_keys(texts.root / _MODELS, name=_MODELS))
    if name in known:
        raise ReprlabError(f"{_MODELS} has a model {name} already; choose another name")
    if like not in known:
        raise ReprlabError(f"LIKE={like}: there is no such entry in {_MODELS}{nearest(like, known)}")
    (entry,) = re.findall(rf"^{like}:\n(?:[ #].*\n|\n(?= ))+", text, flags=re.M)
    entry = re.sub(
        r"^  source: .*$", f"  source: ours, a copy of {like}; say where your numbers were read", entry, flags=re.M
    )
    texts.changed[_MODELS] = f"{text.rstrip()}\n\n{name}:{entry[len(like) + 1 :]}"
    trial = f"make results/depth/loss_fs.tsv SET=papers.depth.pretraining.model={name} ARGS=--dry-run"
    return f"edit {name} in {_MODELS}; {trial}"


def new_task(texts: Texts, name: str, file: str) -> str:
    """A download entry, a data set and a reader for a file of id, label and text, with tabs; returns what to do next.

    Raises:
        ReprlabError: the name is none for a data set or is taken, or there is no such file.
    """
    _check(name, _NAME, "small letters, digits and underscores")
    path = Path(file).expanduser().absolute()
    if not path.is_file():
        raise ReprlabError(f"FILE={file}: no such file; give a tab-separated file of id, label and text")
    known = read_keys(texts.root / _DATASETS, name=_DATASETS)
    for section in ("archives", "tasks"):
        if name in known[section]:
            raise ReprlabError(f"{_DATASETS} has {name} in {section} already; choose another name")
    content = path.read_bytes()
    labels = _labels_of(path)

    renamed = {
        '"local:/data/reviews.tsv"': json.dumps(f"local:{path}", ensure_ascii=False),
        "file: reviews.tsv": f"file: {json.dumps(path.name, ensure_ascii=False)}",
        "0" * 64: hashlib.sha256(content).hexdigest(),
        "bytes: 1\n": f"bytes: {len(content)}\n",
        "Worked example of docs/adding.md": f"Examples of {name}",
        "title: Reviews of a shop": f"title: {name}",
        "reader: labelled_lines": f"reader: {name}",
        "[reviews]": f"[{name}]",
        "labels: [negative, positive]": f"labels: {json.dumps(labels, ensure_ascii=False)}",
        "  reviews:\n": f"  {name}:\n",
    }

    def named(text: str) -> str:
        for old, new in renamed.items():
            text = text.replace(old, new)
        return text

    for block in blocks_of(texts.root, "A task with a reader of your own"):
        if "file" in block.options:
            options = {**block.options, "file": block.options["file"].replace("labelled_lines", name)}
            texts.apply(Block(block.language, options, named(block.text)))
    return (
        f"edit title, splits and licence of {name} in {_DATASETS}; make results/shared/tasks/{name}/examples.parquet"
        f" SET=papers.depth.finetuning.tasks.sst2.dataset={name}"
    )


def _labels_of(path: Path) -> list[str]:
    """The labels of a file of id, label and text, in the order of the alphabet.

    Raises:
        ReprlabError: a line is not id, label and text; the first one is a header; or there are too many labels for them
            to be classes.
    """
    rows = [cells for _, cells in tab_rows(path, 3, called="id, label and text, with tabs between")]
    if not rows:
        raise ReprlabError(f"FILE={path}: has no line of id, label and text, with tabs between")
    if [cell.strip().lower() for cell in rows[0]] == ["id", "label", "text"]:
        raise ReprlabError(f"FILE={path}: line 1 is a header (id, label, text); remove it: each line is an example")
    labels = sorted({label for _, label, _ in rows})
    if len(labels) > _MOST_LABELS:
        raise ReprlabError(
            f"FILE={path}: column 2 has {len(labels)} different labels, more than {_MOST_LABELS}; the columns are id, "
            "label and text"
        )
    return labels


def _check(name: str, pattern: str, form: str) -> None:
    if not re.fullmatch(pattern, name):
        raise ReprlabError(f"{name!r} is not a name for it: {form}")


def _with_sorted_imports(text: str) -> str:
    """The text with each run of lines that import from here in order, which another name has changed."""
    return re.sub(
        r"(?:^from reprlab\..*\n)+", lambda run: "".join(sorted(run[0].splitlines(keepends=True))), text, flags=re.M
    )


@told_in_one_line()
def main(arguments: list[str] | None = None) -> int:
    """Write the files and say what comes next."""
    parser = argparse.ArgumentParser(prog="python -m reprlab.scaffold", description=__doc__)
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--paper", metavar="SLUG", help="settings, schema, plan, results, printed values and page")
    kind.add_argument("--model", metavar="NAME", help="an entry of config/models.yaml")
    kind.add_argument("--task", metavar="NAME", help="a download entry, a data set and a reader")
    parser.add_argument("--like", metavar="MODEL", default="t5_mini", help="the model that is copied (t5_mini)")
    parser.add_argument("--file", default="", help="tab-separated file of id, label and text")
    given = parser.parse_args(arguments)
    texts = Texts(checkout_root())
    if given.paper is not None:
        following = new_paper(texts, given.paper)
    elif given.model is not None:
        following = new_model(texts, given.model, given.like)
    else:
        following = new_task(texts, given.task, given.file)
    written = texts.write()
    for path, module in _GENERATED.items() if given.paper is not None else ():
        subprocess.run([sys.executable, "-m", module, "--write"], check=True, stdout=subprocess.DEVNULL)
        written.append(path)
    sys.stdout.write("".join(f"wrote {name}\n" for name in written) + f"next: {following}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
