"""What verdicts depend on: variations of a paper's settings, what they need to run, and the words of claims."""

import re
from pathlib import Path

import pandas
import pytest
from reprlab.config.load import load_config
from reprlab.config.papers import SLUGS
from reprlab.config.runtime import SCALES
from reprlab.config.variations import edits_of, variations_of
from reprlab.planning.run_plan import plan_run
from reprlab.planning.sensitivity import needed_files, reuse
from reprlab.planning.stages import wildcard_constraints
from reprlab.results.records import records_of
from reprlab.results.sensitivity import NOTHING, OTHER_RUN, turned, with_dependence
from reprlab.runtime.errors import ReprlabError
from reprlab.runtime.seals import content_digest, put_seal, read_seal
from reprlab.settings.overrides import Layer

ROOT = Path(__file__).parents[2]
ASR = "asr-adapters"


def entry(**more):
    return {"name": "longer", "words": "the updates", "reason": "a short run shows speed", "claims": ["A5"]} | more


def listed(*entries):
    return variations_of(Layer("mine.yaml", {"sensitivity": list(entries)}), ASR, "mini")


def test_a_list_of_variations_is_checked():
    assert [one.name for one in listed(entry(), entry(name="far", scales=["paper"]))] == ["longer"]
    with pytest.raises(ReprlabError, match=r"mine\.yaml: sensitivity: two variations of asr-adapters are named longer"):
        listed(entry(), entry())
    with pytest.raises(ReprlabError, match=r"mine\.yaml: sensitivity\.0\.reson: unknown key; did you mean 'reason'"):
        listed(entry(reson="x"))


def test_factors_become_edits_of_the_scale():
    config = load_config(ROOT, {"scale": "mini"}, targets=[ASR])
    assert config.papers[ASR].training.steps == 120
    (one,) = listed(entry(times={"training.steps": 3}, set={"training.initial_scale": 1.0}))
    steps, start = "papers.asr-adapters.training.steps=360", "papers.asr-adapters.training.initial_scale=1.0"
    assert edits_of(one, config.plain(ASR), ASR) == [steps, start]
    changed = load_config(ROOT, {"scale": "mini", "set": "; ".join([steps, start])}, targets=[ASR]).papers[ASR]
    assert (changed.training.steps, changed.training.initial_scale) == (360, 1.0)
    for name, problem in (("training.stepps", "did you mean 'steps'"), ("training.schedule", "not a number")):
        with pytest.raises(ReprlabError, match=problem):
            edits_of(listed(entry(times={name: 3}))[0], config.plain(ASR), ASR)


@pytest.fixture(scope="module")
def plans():
    """The run and the variation that trains longer, at nano."""
    given = {"scale": "nano"}
    base = load_config(ROOT, given, targets=[ASR])
    (one,) = [one for one in base.variations(ASR) if one.name == "longer"]
    config = load_config(
        ROOT, {**given, "set": "; ".join(edits_of(one, base.plain(ASR), ASR)), "run": "v"}, targets=[ASR]
    )
    settings, wanted = needed_files(config, ASR, [records_of("asr_adapters").claim(id) for id in one.claims])
    return plan_run(base), plan_run(config), settings, wanted


def test_a_variation_needs_the_files_of_its_claims_alone(plans):
    _, planned, settings, wanted = plans
    assert {(one.factors["part"], one.factors["method"]) for one in settings.entries} == {
        ("ablation", "ff_fast"),
        ("ablation", "ff_bare_fast"),
    }
    trained = {planned.makers[path] for path in wanted}
    assert len(trained) == 2 and {stage for stage, _ in trained} == {"train_recogniser"}


def test_what_both_plans_make_alike_is_copied_with_its_seal(plans, tmp_path, monkeypatch):
    base, planned, _, wanted = plans
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    monkeypatch.chdir(here)
    for job in base.jobs.values():
        for name in job.outputs.values():
            path = Path(name)
            if name.endswith("/"):
                path.mkdir(parents=True)
                path = path / "file"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
    for job in base.jobs.values():
        for name in job.outputs.values():
            put_seal(Path(name))
    copied = reuse(here, base, there, planned, wanted)
    stages = {planned.makers[path][0] for path in copied}
    # What the trainings read, and not what that was made from; the trainings are others.
    assert "build_examples" in stages and not stages & {"train_recogniser", "fetch_archive"}
    for path in copied:
        assert read_seal(path, there) == read_seal(path, here)
        assert content_digest(there / path) == read_seal(path, there).sha256
    assert reuse(here, base, there, planned, wanted) == []


def claims_and_varied(verdict="not supported", **more):
    claims = pandas.DataFrame([{"id": "A5", "estimate": -79.6, "verdict": "supported", "note": ""}])
    row = {"id": "A5", "estimate_run": -79.6, "verdict_run": "supported", "estimate": 3.14159, "verdict": verdict}
    row |= {"words": "the start (as drawn)", "turns": turned("supported", verdict)} | more
    return claims, pandas.DataFrame([row])


def test_a_claim_says_what_turns_it():
    def said(claims, varied):
        return with_dependence(claims, varied)["depends_on"].item()

    assert said(*claims_and_varied()) == "the start (as drawn): not supported, 3.142"
    assert said(*claims_and_varied("supported")) == NOTHING
    assert said(*claims_and_varied("not testable at this scale")) == ""
    # A table of another run says nothing of this one.
    assert said(*claims_and_varied(estimate_run=-79.5)) == OTHER_RUN
    assert said(*claims_and_varied(verdict_run="inconclusive")) == OTHER_RUN
    assert said(*claims_and_varied(id="A6")) == said(claims_and_varied()[0], None) == ""
    assert list(with_dependence(claims_and_varied()[0], None)) == ["id", "estimate", "verdict", "depends_on", "note"]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_paper_varies_what_could_make_its_findings(slug):
    """Each list names claims that exist and settings that are there at every scale, and trains for longer once."""
    records, factors = records_of(slug.replace("-", "_")), []
    for scale in SCALES:
        config = load_config(ROOT, {"scale": scale}, targets=[slug])
        for one in config.variations(slug):
            for id in one.claims:
                records.claim(id)
            edits = {"scale": scale, "set": "; ".join(edits_of(one, config.plain(slug), slug))}
            assert load_config(ROOT, edits, targets=[slug]).papers[slug] != config.papers[slug]
            factors += one.times.values()
    assert 3 in factors


def test_the_table_is_an_input_of_claims_where_it_is(tmp_path):
    given = {"scale": "nano", "build": [ASR]}
    target = f"results/{ASR}/sensitivity.tsv"
    (tmp_path / "runs/nano/results" / ASR).mkdir(parents=True)
    before = plan_run(load_config(ROOT, given, home=tmp_path)).job("test_claims", ASR)
    (tmp_path / "runs/nano" / target).write_text("id\n")
    after = plan_run(load_config(ROOT, given, home=tmp_path)).job("test_claims", ASR)
    assert "varied" not in before.inputs and after.inputs["varied"] == target and before.digest != after.digest
    # No rule makes it, so that the engine takes it as it is.
    table = re.compile(wildcard_constraints([ASR])["table"] + r"\Z")
    assert table.match("sensitivity_of_depth") and table.match("scores") and not table.match("sensitivity")
