"""Where a job writes, relative to the folder of the run: the declared patterns of its stage with its key filled in."""

from reprlab.planning.stages import STAGES

SHARED = "results/shared"
ONLY = "all"
"""Key of the one job of a stage without wildcards."""


def wildcard_values(stage: str, key: str) -> dict[str, str]:
    """The wildcards of the job `key`."""
    names = STAGES[stage].wildcards
    return dict(zip(names, key.split("/"), strict=True)) if names else {}


def output(stage: str, name: str, key: str) -> str:
    """One output of a job."""
    return STAGES[stage].outputs[name].format(**wildcard_values(stage, key)).rstrip("/")


def outputs(stage: str, key: str) -> dict[str, str]:
    """All outputs of a job by name."""
    return {name: output(stage, name, key) for name in STAGES[stage].outputs}


def log(stage: str, key: str) -> str:
    """The log of a job."""
    return f"results/logs/{stage}/{key.replace('/', '.')}.log"


def benchmark(stage: str, key: str) -> str:
    """What the engine measured of a job."""
    return f"results/benchmarks/{stage}/{key.replace('/', '.')}.tsv"


def work(stage: str, key: str) -> str:
    """Folder of a job that survives its failure."""
    return f"results/work/{stage}/{key}"


def receipt(archive: str) -> str:
    """Receipt of a fetched archive."""
    return output("fetch_archive", "receipt", archive)


def documents(corpus: str) -> str:
    """Documents of a corpus."""
    return output("build_documents", "out", corpus)


def sentences(corpus: str, segmentation: str) -> str:
    """Passages of a corpus, cut into sentences."""
    return output("segment_documents", "out", f"{corpus}/{segmentation}")


def tokenizer(name: str) -> str:
    """Folder of a tokenizer."""
    return output("train_tokenizer", "out", name)


def tokens(name: str) -> str:
    """Token ids of a corpus in one format."""
    return output("tokenize_corpus", "out", name)


def model(name: str) -> str:
    """Folder of an initial model."""
    return output("build_model", "out", name)


def pretrained(name: str) -> str:
    """Folder of a pre-training run: one folder per checkpoint of its ladder."""
    return output("pretrain_lm", "out", name)


def pretraining_metrics(name: str) -> str:
    """Loss by step of a pre-training run."""
    return output("pretrain_lm", "metrics", name)


def checkpoint(name: str, step: int) -> str:
    """Folder of one checkpoint. It lies inside the ladder folder, which is what a rule depends on."""
    return f"{pretrained(name)}/{checkpoint_name(step)}"


def checkpoint_name(step: int) -> str:
    """Name of the checkpoint after `step` optimizer steps."""
    return f"step-{step:08d}"


def evaluation(name: str) -> str:
    """Validation losses of a ladder, one row per checkpoint and batch."""
    return output("evaluate_lm", "out", name)


def examples(task: str) -> str:
    """Examples of a task."""
    return output("build_examples", "out", task)


def baselines(task: str) -> str:
    """Trivial and bag-of-words baselines of a task."""
    return output("evaluate_baselines", "out", task)


def result(paper: str, name: str) -> str:
    """A result file of a paper."""
    return f"results/{paper}/{name}"
