"""The warm start of small language models, each on its own objective; Mamba's scans run in chunks."""

from pathlib import Path

import pytest
from reprlab.artifacts.tables import read_tsv
from reprlab.models.build import load_model
from reprlab.registry.models import load_models
from reprlab.stages.build_model import build_model
from reprlab.stages.pretrain_lm import pretrain_lm
from reprlab.training.settings import PretrainSettings
from training_samples import write_tokens

MODELS = load_models(Path(__file__).parents[2] / "config" / "models.yaml")


@pytest.mark.parametrize("name", ["bert_nano_mlm", "opt_nano", "mamba_nano", "mamba2_nano"])
def test_a_random_model_is_warmed_up(name, tmp_path, caplog):
    caplog.set_level("INFO", logger="reprlab")
    tokens, tokenizer = write_tokens(tmp_path, "causal", rows=20)
    build_model(entry=MODELS[name], out=tmp_path / "model", tokenizer=tokenizer)
    settings = PretrainSettings.model_validate(
        {
            "objective": "masked_lm" if name.startswith("bert") else "causal_lm",
            "input_length": 24,
            "target_length": 24,
            "engine": {
                "steps": 2,
                "ladder": [2],
                "batch_size": 4,
                "log_every": 1,
                "optimizer": {"learning_rate": 1e-3},
            },
        }
    )
    pretrain_lm(
        tokens=tokens, tokenizer=tokenizer, init=tmp_path / "model", out=tmp_path / "ladder",
        metrics=tmp_path / "metrics.tsv", throughput=tmp_path / "speed.tsv", work=tmp_path / "work/x",
        settings=settings, fingerprint="x",
    )  # fmt: skip
    assert read_tsv(tmp_path / "metrics.tsv")["loss"].gt(0).all()
    assert load_model(tmp_path / "ladder/step-00000002").config.hidden_size == 32
    assert ("scans of Mamba layers, where a model has them: chunked" in caplog.messages) == name.startswith("mamba")
    if name == "mamba_nano":
        from transformers.models.mamba import modeling_mamba

        assert hasattr(modeling_mamba.mamba_selective_scan, "replaces")
