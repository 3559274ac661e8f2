"""Names of DEPTH: of its columns, and of its runs, which become folders."""

from reprlab.results.words import printed_of

BENCHMARKS = {name: printed_of("depth").tables[name].values for name in ("glue", "discoeval", "ni")}
GLUE, DISCOEVAL, NI = BENCHMARKS.values()
SENTENCE_POSITION, DISCOURSE_COHERENCE = DISCOEVAL[:3], DISCOEVAL[3:]
SIDE_EXPERIMENTS = ("packing_lr", "sentence_weight", "padding_in_loss", "int8_bug")


def run_name(objective: str, init: str, seed: int, variant: str = "") -> str:
    """Name of a pre-training run, such as `depth_t5_fs_s2137`; `variant` marks a side experiment."""
    middle = f"_{variant}" if variant else ""
    return f"depth_{objective}_{init}{middle}_s{seed}"


def number_name(value: float) -> str:
    """A number as part of a name: 0.001 is `1e_3`, 5 is `5`."""
    text = f"{value:g}" if value >= 1 else f"{value:.0e}"
    return text.replace("e-0", "e_").replace("e-", "e_").replace(".", "p")
