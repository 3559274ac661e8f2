"""Templates and label words that cannot work are refused when planning."""

from pathlib import Path

import pytest
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
WRITTEN = "papers.depth.finetuning.form=text_to_text"
SST2, TWEETS = "papers.depth.finetuning.tasks.sst2", "papers.intrinsic-dimension.data.datasets.sst2"


@pytest.mark.parametrize(
    ("edit", "parts"),
    [
        (f"{SST2}.template=sst3", ["finetune_model depth_", "/sst2/", "template 'sst3': neither a known name (cola, "]),
        (f"{SST2}.template='{{text_c}}'", ["single examples have no column 'text_c', only text"]),
        (f"{SST2}.template='{{text'", ["template '{text': not a format string"]),
        (f"{SST2}.template=mnli", ["template 'mnli' takes pair examples, but the data are single examples"]),
        (f"{SST2}.template=discoeval", ["takes sentences examples"]),
        (
            f"papers.depth.finetuning.form=text_to_text; {SST2}.labels=[bad]",
            ["2 labels (negative, positive) need as many different words, got bad"],
        ),
        (f"{TWEETS}.template='{{txt}}?'", ["build_prompts id_sst2/", "template '{txt}?': KeyError('txt')"]),
        (f"{TWEETS}.dataset=sp_wiki", ["data set sp_wiki is built from passages of wikipedia_sample, which this"]),
        (f"{TWEETS}.words=[one]", ["words ['one'] for the labels", "give each label a word of its own"]),
    ],
)
def test_it_is_refused_in_one_line(edit, parts):
    with pytest.raises(ReprlabError) as error:
        make_plan(load_config(ROOT, {"scale": "mini", "set": edit}))
    assert "\n" not in str(error.value)
    for part in parts:
        assert part in str(error.value), str(error.value)


def test_a_template_of_the_users_own_is_planned():
    template = "papers.depth.finetuning.tasks.sst2.template='What about: {text}, then?'"
    make_plan(load_config(ROOT, {"scale": "mini", "set": template}))
