"""Measure the speed of a reranker and profile its operators."""

from pathlib import Path

from reprlab.retrieval.rerank_speed import SpeedSettings
from reprlab.runtime.cli import run_stage


def measure_rerankers(*, model: Path, out: Path, settings: SpeedSettings, device: str = "cpu") -> None:
    """Write a row for each batch, length and operator; seconds differ from run to run, no score is made here.

    The column `kernels` names the path of state-space models: compiled, chunked (ours), or none for the others. What
    does not fit into memory is a row without numbers and with a `reason`.

    Raises:
        ReprlabError: the folder is not a model folder.
    """
    import pandas
    import torch

    from reprlab.artifacts.tables import write_tsv
    from reprlab.models.build import load_model, quiet_transformers
    from reprlab.retrieval.rerank_speed import measured_rows
    from reprlab.training.processes import choose_device

    quiet_transformers()
    torch.manual_seed(0)
    table = pandas.DataFrame(measured_rows(load_model(model), settings, choose_device(device)))
    write_tsv(out, table.astype({"value": "float64", "n": "Int64"}))


if __name__ == "__main__":
    run_stage(measure_rerankers)
