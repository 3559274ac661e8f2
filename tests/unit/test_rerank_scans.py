"""What depends on the path that a state-space reranker takes: its operators and its arithmetic."""

import pytest
import torch
from reprlab.models.selective_scan import install_scans
from reprlab.retrieval.rerank_speed import SpeedSettings, speed_rows
from reprlab.retrieval.reranker import group_loss, reranker
from transformers import Mamba2Config, Mamba2ForCausalLM, MambaConfig, MambaForCausalLM

SMALL = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "pad_token_id": 0}
STATE = ("A_log", "D", "dt_bias", "dt_proj.bias")
"""Parameters of the state, which Mamba keeps in single precision."""


def network(family: str):
    torch.manual_seed(0)
    if family == "mamba":
        return reranker(MambaForCausalLM(MambaConfig(**SMALL, state_size=4)), "last", 0.0)
    config = Mamba2Config(**SMALL, num_heads=4, head_dim=8, state_size=8, n_groups=1)
    return reranker(Mamba2ForCausalLM(config), "last", 0.0)


@pytest.mark.parametrize("family", ["mamba", "mamba2"])
def test_no_time_goes_to_reading_single_numbers(family):
    """The paper's profile of Mamba-1 shows is_nonzero and item, and lays them to the architecture."""
    install_scans(torch.device("cpu"))
    settings = SpeedSettings(
        template="document_first", training_length=8, training_batches=[1], lengths=[64], batch=4, documents=2,
        repeats=2, operators=200,
    )  # fmt: skip
    rows = [row for row in speed_rows(network(family), settings, 60, torch.device("cpu")) if row["operator"]]
    share = {row["operator"]: row["value"] for row in rows}
    assert sum(share.values()) > 95, "the profile holds nearly all operators"
    assert sum(share.get(f"aten::{name}", 0) for name in ("is_nonzero", "item", "_local_scalar_dense")) < 2


@pytest.mark.parametrize("family", ["mamba", "mamba2"])
def test_the_state_is_kept_in_single_precision(family):
    """In bfloat16 arithmetic the parameters of the state and their gradients stay float32, and scores stay near."""
    install_scans(torch.device("cpu"))
    model = network(family).eval()
    ids = torch.randint(2, 60, (6, 40), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    exact = model(ids, mask).detach()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = model(ids, mask)
        loss, _ = group_loss(lambda *_: scores, {"input_ids": ids, "attention_mask": mask, "groups": torch.zeros(2)})
    loss.backward()
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores.detach(), exact, rtol=0, atol=0.05 * float(exact.std()) + 0.01)
    kept = [(name, value) for name, value in model.named_parameters() if name.endswith(STATE)]
    assert {name.split("mixer.")[-1] for name, _ in kept} >= {"A_log", "D"}
    for name, value in kept:
        assert value.dtype == value.grad.dtype == torch.float32 and bool(value.grad.abs().sum() > 0), name
