"""Names of DEPTH: of its columns, and of its runs, which become folders."""

GLUE = ("cola", "sst2", "mnli_m", "mnli_mm")
SENTENCE_POSITION = ("sp_arxiv", "sp_wiki", "sp_rocstory")
DISCOURSE_COHERENCE = ("dc_chat", "dc_wiki")
DISCOEVAL = (*SENTENCE_POSITION, *DISCOURSE_COHERENCE)
BENCHMARKS = {"glue": GLUE, "discoeval": DISCOEVAL, "ni": ("rougeL",)}


def run_name(objective: str, init: str, seed: int, variant: str = "") -> str:
    """Name of a pre-training run, such as `depth_t5_fs_s2137`; `variant` marks a side experiment."""
    middle = f"_{variant}" if variant else ""
    return f"depth_{objective}_{init}{middle}_s{seed}"


def number_name(value: float) -> str:
    """A number as part of a name: 0.001 is `1e_3`, 5 is `5`."""
    text = f"{value:g}" if value >= 1 else f"{value:.0e}"
    return text.replace("e-0", "e_").replace("e-", "e_").replace(".", "p")
