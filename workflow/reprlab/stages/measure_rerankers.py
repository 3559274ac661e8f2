"""Measure the speed of a reranker and profile its operators."""

from pathlib import Path

from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.runtime.cli import run_stage


def measure_rerankers(*, model: Path, out: Path, settings: SpeedSettings, device: str = "cpu") -> None:
    """Write a row for each batch, length and operator; seconds differ from run to run, no score is made here.

    The column `kernels` names the path of state-space models: compiled, chunked (ours), or none for the others. What
    does not fit into memory is a row without numbers and with a `reason`.

    Raises:
        ReprlabError: the folder is no model folder.
    """
    import pandas
    import torch

    from reprlab.artifacts.tables import write_tsv
    from reprlab.models.build import encoder_alone, load_model, quiet_transformers
    from reprlab.models.selective_scan import install_scans
    from reprlab.retrieval.rerank_speed import speed_rows
    from reprlab.retrieval.reranker import POOLED, reranker
    from reprlab.training.processes import choose_device

    quiet_transformers()
    path = install_scans(choose_device(device))
    torch.manual_seed(0)
    whole = load_model(model)
    whole = encoder_alone(whole) if settings.encoder_cls else whole
    kernels = path if whole.config.model_type.startswith("mamba") else "none"
    place = choose_device(device)
    network = reranker(whole, POOLED[settings.template], 0.0).to(place)
    rows = speed_rows(network, settings, whole.config.vocab_size, place)
    table = pandas.DataFrame([{**row, "kernels": kernels, "device": place.type} for row in rows])
    write_tsv(out, table.astype({"value": "float64", "n": "Int64"}))


if __name__ == "__main__":
    run_stage(measure_rerankers)
