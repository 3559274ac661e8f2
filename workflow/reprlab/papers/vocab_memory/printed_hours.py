"""Hours of fine-tuning that the paper prints in Table 9."""

from pathlib import Path

from reprlab.papers.vocab_memory.schema import VocabMemorySettings
from reprlab.reporting.cost_layout import CostRun
from reprlab.reporting.published import read_printed

_STAGES = ("finetune_model", "measure_finetuning")


def with_hours(root: Path, paper: VocabMemorySettings, run: CostRun) -> CostRun:
    """The run with the hours of its model on its task, where Table 9 has them."""
    seconds = read_printed(root, "vocab-memory", "table9_runtime")
    name, _, task = run.name.rpartition("/")
    if run.stage not in _STAGES or name != f"vocab_memory_{paper.runtime_table.published_model}" or task not in seconds:
        return run
    return run.model_copy(update={"published_hours": f"{float(seconds[task]['finetune_s']) / 3600:.4f}"})
