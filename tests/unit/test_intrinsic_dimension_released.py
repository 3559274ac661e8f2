"""Prompts of the released data sets: through reader and prompt builder as at paper scale.

The first tests are on a few rows in the format of the authors' files; those on the files themselves need
REPRLAB_MIRROR.
"""

import json
import os
import re
from collections import Counter
from pathlib import Path

import pandas
import pytest
from data_fixtures import file_set
from reprlab.config.load import load_config
from reprlab.data.examples import examples_of
from reprlab.planning.paper_plans import make_plan
from reprlab.registry.dataset_entries import Limits
from reprlab.registry.datasets import load_registry
from reprlab.representations.prompts import build_rows, demonstration_indices
from reprlab.representations.settings import PromptSettings
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
REGISTRY = load_registry(ROOT / "config/datasets.yaml")
HERE = ("sst2", "cola", "mnli", "ag_news", "commonsense_qa")
# Texts of the released prompts around the fields of the data (spec 2.1), as regular expressions.
RENDERED = {
    "sst2": r"(.*) \nQuestion: Was that sentence positive or negative\? Answer:",
    "cola": r"Does the following sentence make sense and use correct English\? Please answer yes or no\.\n(.+)",
    "mnli": r'(.+) Are we justified in saying that "(.+)"\? Yes, no, or maybe\?',
    "ag_news": r"What label best describes this news article\?\n(.+)",
    "commonsense_qa": r"Given the following options, what do you think is the correct answer to the question below:\n\n"
    r"(.+)\n\nOptions:\n\n- A: (.+)\n\n- B: (.+)\n\n- C: (.+)\n\n- D: (.+)",
}
# Section 3: inputs that come again in the validation set, and in both sets.
REPEATED = {"cola": (5, 1), "sst2": (4, 1), "mnli": (0, 0), "ag_news": (0, 0), "commonsense_qa": (0, 0)}


def released(texts, labels):
    """The format of the authors' files: lists of items that hold their own demonstration."""
    items = [
        {"input": text, "output": label, "combined": f"{text}\n{label}", "original_dataset_subset": "train"}
        for text, label in zip(texts, labels, strict=True)
    ]
    return {"train": items[:4], "validation": items[4:]}


def rows_of(name, content, folder):
    entry = REGISTRY.task(f"id_{name}")
    sources = file_set({entry.options["file"]: json.dumps(content).encode()}, folder)
    return examples_of(entry, sources, Limits())


def settings(count=4, asked=3, **changes):
    values = {"template": "{text}", "split": "validation", "train_items": count, "validation_items": asked}
    return PromptSettings.model_validate({**values, **changes})


SST2 = [f"a film number {number} \nQuestion: Was that sentence positive or negative? Answer:" for number in range(7)]
SST2[6] = SST2[5]
FILMS = released(SST2, ["positive", "negative", "negative", "positive", "negative", "positive", "positive"])


def test_released_rows_become_prompts_letter_for_letter(tmp_path):
    rows = rows_of("sst2", FILMS, tmp_path)
    found = build_rows(rows, ["negative", "positive"], settings(demonstrations=2))
    drawn = demonstration_indices(3, 4, settings(demonstrations=2))
    for row, indices, item in zip(found, drawn, FILMS["validation"], strict=True):
        shown = "".join(FILMS["train"][index]["combined"] + "\n\n" for index in indices)
        assert row["prompt"] == shown + item["input"] + "\n"
        assert (row["text"], row["label"]) == (item["combined"], item["output"])
    # What is asked twice stays twice: only the estimator leaves out twins.
    assert found[1]["text"] == found[2]["text"] and len(found) == 3


def test_braces_in_a_released_prompt_are_text(tmp_path):
    texts = ["Set {0} or {text}?", *SST2[1:]]
    rows = rows_of("sst2", released(texts, ["positive"] * 7), tmp_path)
    trained = build_rows(rows, ["negative", "positive"], settings(split="train"))
    assert trained[0]["prompt"] == "Set {0} or {text}?\n"


def test_a_released_label_may_be_an_option_that_is_not_shown(tmp_path):
    """T2: E is the answer and no option."""
    rows = rows_of("commonsense_qa", released([f"Where? {number}" for number in range(7)], "ABCDEAE"), tmp_path)
    assert [row["label"] for row in build_rows(rows, list("ABCDE"), settings())] == ["E", "A", "E"]
    with pytest.raises(ReprlabError, match="'F'"):
        rows_of("commonsense_qa", released([f"Where? {number}" for number in range(7)], "ABCDEAF"), tmp_path / "f")


def test_what_is_no_released_file_is_refused(tmp_path):
    with pytest.raises(ReprlabError, match="not a file of released prompts"):
        rows_of("sst2", {"train": FILMS["train"]}, tmp_path)


def paper_prompts():
    plan = make_plan(load_config(ROOT, {"scale": "paper", "build": ["intrinsic-dimension"]}))
    return {
        key: PromptSettings.model_validate_json(job.settings["settings"])
        for key, job in plan.jobs["build_prompts"].items()
        if key.startswith("id_")
    }


def test_settings_at_paper_scale_take_the_released_sets_whole():
    for key, found in paper_prompts().items():
        assert found.validation_items == 5000 and found.seed == 42 and found.max_words is None
        if "unique_" in key:
            assert (found.train_items, found.unique) == (100_000, True)
            assert "{text}" not in found.template or found.template.startswith("What label best describes")
        else:
            assert (found.train_items, found.unique, found.template, found.words) == (1000, False, "{text}", [])


def test_templates_of_the_unique_control_render_the_released_form():
    """AG News by its released prompts; QNLI and QQP by the spec, as their files are larger than the mirror takes."""
    unique = {key.split("/")[0]: one for key, one in paper_prompts().items() if "unique_" in key}
    assert re.fullmatch(RENDERED["ag_news"], unique["id_ag_news"].template.format(text="News."))
    row = {"text_a": "Who?", "text_b": "He did."}
    assert unique["id_qnli"].template.format(**row) == (
        'He did.\nDoes that sentence have all you need to answer the question "Who?"?'
    )
    assert unique["id_qqp"].template.format(**row) == (
        'I\'m an administrator on the website Quora. There are two posts, one that asks "Who?" and another that asks '
        '"He did.". I can merge questions if they are asking the same thing. Can I merge these two questions?'
    )
    labels = {name: REGISTRY.task(f"glue_{name}").labels for name in ("qnli", "qqp")}
    words = {name: dict(zip(labels[name], unique[f"id_{name}"].words, strict=True)) for name in labels}
    assert words["qnli"] == {"entailment": "yes", "not_entailment": "no"}
    assert words["qqp"] == {"not_duplicate": "no", "duplicate": "yes"}


@pytest.fixture(scope="module")
def mirror():
    archive = REGISTRY.archives["id_prompts"]
    repository = archive.origins[0].removeprefix("github:").partition("@")[0]
    folder = Path(os.environ.get("REPRLAB_MIRROR", "/nonexistent")) / "github" / repository
    if not folder.is_dir():
        pytest.skip("REPRLAB_MIRROR has no released prompts")
    return folder


@pytest.mark.parametrize("name", HERE)
def test_released_files(mirror, name, tmp_path):
    content = json.loads((mirror / f"datasets/{name}.json").read_text(encoding="utf-8"))
    rows = rows_of(name, content, tmp_path)
    labels = list(REGISTRY.task(f"id_{name}").labels)
    ask = {"count": 1000, "asked": 5000}
    prompts = build_rows(rows, labels, settings(**ask, demonstrations=2))
    first, second = (content["train"][index]["combined"] for index in (654, 114))
    assert prompts[0]["prompt"] == f"{first}\n\n{second}\n\n{content['validation'][0]['input']}\n"
    trained = build_rows(rows, labels, settings(**ask, split="train"))
    for split, made in (("validation", prompts), ("train", trained)):
        assert [row["text"] for row in made] == [item["combined"] for item in content[split]]
        known = pandas.read_csv(ROOT / "resources/published/intrinsic-dimension/label_counts.tsv", sep="\t")
        known = known[(known["dataset"] == name) & (known["split"] == split)]
        if len(known):
            assert Counter(row["label"] for row in made) == dict(zip(known["label"], known["count"], strict=True))
    assert all(re.fullmatch(RENDERED[name], row["text"], flags=re.S) for row in rows)
    asked = [item["input"] for item in content["validation"]]
    both = {item["input"] for item in content["train"]}.intersection(asked)
    assert (len(asked) - len(set(asked)), len(both)) == REPEATED[name]
