"""Decoders of another family than the papers' own as sentence encoders: planned with their layers, or refused."""

from pathlib import Path
from typing import Any

import pytest
from planned_chain import settings_of
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.planning.plan import Plan
from reprlab.registry.models import LINEAR_LAYERS
from reprlab.runtime.errors import ReprlabError

ROOT = Path(__file__).parents[2]
PROMPTS, PRUNED = "prompt-tuning-encoders", "overparameterized-encoders"
OPT = ["q_proj", "k_proj", "v_proj", "out_proj", "fc1", "fc2"]


def plan(paper: str, *edits: str, **more: Any) -> Plan:
    changes = [f"papers.{paper}.{edit}" for edit in edits]
    return make_plan(load_config(ROOT, {"scale": "nano", "build": [paper], "set": changes, **more}))


def adapters(planned: Plan, stage: str, key: str) -> list[str]:
    settings = settings_of(planned.jobs[stage][key])["settings"]
    return list((settings.get("encoder") or settings)["adapter"]["targets"])


def test_adapters_are_in_the_layers_of_the_family() -> None:
    text = "warm_start.text.corpus=wordnet_text"
    planned = plan(
        PROMPTS, "backbones.lm.model=opt_nano", "backbones.lm.grid={spt_mntp_mean: [1], lora_uni: [1]}", text
    )
    assert adapters(planned, "train_encoder", "lm/prompt_tuning_lora_uni_1") == OPT
    assert adapters(planned, "post_train", "lm/prompt_tuning") == OPT
    usual = plan(PROMPTS)
    assert "gate_proj" in adapters(usual, "train_encoder", "lm/prompt_tuning_lora_uni_1")
    name = next(iter(load_config(ROOT, {"scale": "nano"}).papers[PRUNED].compared))
    pruned = plan(PRUNED, f"backbones.{name}.model=opt_nano", f"backbones.{name}.depths=[p00]")
    assert adapters(pruned, "train_encoder", f"{name}/l3prune_p00") == OPT


@pytest.mark.parametrize(("paper", "trainings", "forms"), [(PROMPTS, 94, 1), (PRUNED, 84, 2)])
def test_triples_are_tokenised_once_by_each_tokenizer(paper: str, trainings: int, forms: int) -> None:
    """Whatever the method, its size, the depth, and how long texts are when they are scored; once and twice a text."""
    jobs = make_plan(load_config(ROOT, {"scale": "paper", "build": [paper]})).jobs
    read: dict[str, set[str]] = {}
    # What was pruned before reads the triples of the whole decoder.
    whole = {f"results/shared/pruned/{key}/model": str(job.inputs["model"])
             for key, job in jobs.get("prune_block", {}).items()}  # fmt: skip
    for stage in ("train_encoder", "evaluate_encoder", "measure_layers", "prune_block"):
        for job in jobs.get(stage, {}).values():
            if "triples" in job.inputs:
                model = str(job.inputs["model"])
                read.setdefault(whole.get(model, model), set()).add(str(job.inputs["triples"]))
            if "fitting" in job.inputs:
                assert str(job.inputs["fitting"]) in read[str(job.inputs["model"])]
    assert len(jobs["train_encoder"]) == trainings
    made = {str(job.inputs["tokenizer"]) for job in jobs["tokenize_triples"].values()}
    assert all(len(folders) == forms for folders in read.values())
    assert len(set.union(*read.values())) == forms * len(made) == len(jobs["tokenize_triples"]) and len(made) <= 5


@pytest.mark.parametrize(
    ("paper", "edits", "setting"),
    [
        (PROMPTS, ["backbones.lm.model=mamba_nano"], "lora.targets"),
        (PRUNED, ["backbones.lm.model=mamba_nano", "backbones.lm.depths=[one]"], "training.adapter.targets"),
    ],
)
def test_a_family_of_unknown_layers_is_refused_when_planning(paper: str, edits: list[str], setting: str) -> None:
    name = next(iter(load_config(ROOT, {"scale": "nano"}).papers[paper].compared))
    with pytest.raises(
        ReprlabError, match=rf"papers\.{paper}\.{setting} has no entry \w+, the architecture of"
    ) as told:
        plan(paper, *[edit.replace(".lm.", f".{name}.") for edit in edits])
    assert "partial" not in str(told.value) and "or name a model of gpt2, llama" in str(told.value)


def test_a_family_that_targets_do_not_name_has_adapters_in_all_its_linear_layers() -> None:
    planned = plan(PROMPTS, "backbones.lm.model=mistral_1l_nano", "warm_start.text.corpus=wordnet_text")
    assert adapters(planned, "train_encoder", "lm/prompt_tuning_lora_uni_1") == list(LINEAR_LAYERS["mistral"])


def test_two_papers_draw_one_model_for_their_own_tokenizers() -> None:
    edit = f"papers.{PROMPTS}.backbones.lm.model=opt_nano"
    models = make_plan(load_config(ROOT, {"scale": "nano", "set": edit})).jobs["build_model"]
    drawn = {key: str(job.inputs["tokenizer"]) for key, job in models.items() if key.startswith("opt_nano")}
    assert len(drawn) == 2 and {Path(tokenizer).name for tokenizer in drawn.values()} == {
        "ssm_rerankers",
        "prompt_tuning",
    }


def test_texts_longer_than_the_learned_positions_are_refused_when_planning() -> None:
    edits = ["backbones.lm.model=opt_nano", "backbones.lm.grid={spt_uni_eosp: [1]}"]
    with pytest.raises(ReprlabError, match=r"evaluation\.length \(2049\): opt_nano has 2048 learned positions"):
        plan(PROMPTS, *edits, "evaluation.length=2049")
    assert plan(PROMPTS, *edits, "evaluation.length=2048").jobs["train_encoder"]
    with pytest.raises(
        ReprlabError, match=r"published\.minilm\.max_length \(600\): minilm_l6 has 512 learned positions"
    ):
        plan(PROMPTS, "published.minilm.max_length=600")
