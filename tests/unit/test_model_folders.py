"""Every model folder that a stage writes opens in a fresh process with its tokenizer, and generates."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from planned_chain import Chain, settings_of
from reprlab.config.load import load_config
from reprlab.planning.paper_plans import make_plan
from reprlab.stages.pema_restore import pema_restore

ROOT = Path(__file__).resolve().parents[2]
TEXT = "the colonel laughed at a ball, and said so."
OPEN = """
import json, pathlib, sys
import torch, transformers
from peft import AutoPeftModelForCausalLM
found = {}
for name in sys.stdin.read().split():
    folder = pathlib.Path(name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(sys.argv[1], return_tensors="pt")
    if (folder / "adapter_config.json").exists():
        model = AutoPeftModelForCausalLM.from_pretrained(folder)
    else:
        kind = json.loads((folder / "config.json").read_text())["architectures"][0]
        model = getattr(transformers, kind).from_pretrained(folder, dtype=torch.float32)
    if model.can_generate():
        made = model.generate(ids["input_ids"], attention_mask=ids["attention_mask"], max_new_tokens=3, do_sample=False)
        made = made[0].tolist()
    else:
        made = model(ids["input_ids"])[0].argmax(-1).flatten().tolist()
    text = tokenizer.decode(ids["input_ids"][0], skip_special_tokens=True)
    found[name] = [text, made, tokenizer.unk_token_id in ids["input_ids"][0].tolist()]
print(json.dumps(found))
"""


def job_of(plan, stage, **wanted):
    """The first job of a stage whose settings say so."""
    return next(
        key for key, job in plan.jobs[stage].items()
        if all(settings_of(job)["settings"].get(name) == value for name, value in wanted.items())
    )  # fmt: skip


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders that each stage wrote, from the paper plan in little, and what a fresh process makes of them."""
    plan = make_plan(load_config(ROOT, {"scale": "paper", "keep_finetuned": True}))
    chain = Chain(plan, keep=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("folders"))
        for objective in ("t5", "depth"):
            chain.run("pretrain_lm", job_of(plan, "pretrain_lm", objective=objective))
        chain.run("finetune_completions", next(iter(plan.jobs["finetune_completions"])))
        chain.run("train_adapter", next(iter(plan.jobs["train_adapter"])))
        made = [chain.run("finetune_model", job_of(plan, "finetune_model", embedding=None))]
        key = next(iter(plan.jobs["pema_restore"]))
        trained, given = chain.run("finetune_model", key), plan.jobs["pema_restore"][key].inputs
        (reduced,) = (trained / "models").iterdir()
        made.append(Path("made/pema_restore", key))
        pema_restore(
            trained=trained / "out_metrics", original=Path(given["original"]), tokenizer=Path(given["tokenizer"]),
            name=reduced.name, out=made[-1],
        )  # fmt: skip
        written = {
            path.parent.as_posix()
            for root in (Path("results"), *made)
            for path in root.rglob("*config.json")
            if path.name in ("config.json", "adapter_config.json")
        }
        with_weights = sorted(name for name in written if list(Path(name).glob("*.safetensors")))
        process = subprocess.run(
            [sys.executable, "-c", OPEN, TEXT], input="\n".join(with_weights), capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr[-2000:]
    return json.loads(process.stdout)


@pytest.mark.parametrize(
    "part", ["/models/", "/pretrained/", "/tuned/", "/adapters/", "finetune_model/", "pema_restore/"]
)
def test_folders_open_with_their_tokenizer_and_generate(folders, part):
    found = {name: answer for name, answer in folders.items() if part in name}
    assert found, f"no stage wrote a model below {part}"
    for name, (text, made, unknown) in found.items():
        assert text == TEXT and not unknown, f"{name}: reads {text!r}"
        assert made, name


def test_both_objectives_and_both_kinds_of_finetuning_are_among_them(folders):
    names = "\n".join(folders)
    assert all(part in names for part in ("depth_t5_fs", "depth_depth_fs", "/pema.", "step-00000002"))


def test_keep_finetuned_reaches_every_finetuning():
    plan = make_plan(load_config(ROOT, {"scale": "nano", "keep_finetuned": True}))
    assert all(settings_of(job)["settings"]["keep"] for job in plan.jobs["finetune_model"].values())
