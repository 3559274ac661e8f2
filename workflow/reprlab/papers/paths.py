"""Where the workflow keeps what papers share, relative to the folder of the run."""

SHARED = "results/shared"


def receipt(archive: str) -> str:
    """Receipt of a fetched archive."""
    return f"{SHARED}/archives/{archive}.json"


def documents(corpus: str) -> str:
    """Documents of a corpus."""
    return f"{SHARED}/corpora/{corpus}/documents.parquet"


def sentences(corpus: str, segmentation: str) -> str:
    """Passages of a corpus, cut into sentences."""
    return f"{SHARED}/corpora/{corpus}/{segmentation}/sentences.parquet"


def tokenizer(name: str) -> str:
    """Folder of a tokenizer."""
    return f"{SHARED}/tokenizers/{name}"


def tokens(name: str) -> str:
    """Token ids of a corpus in one format."""
    return f"{SHARED}/tokens/{name}.parquet"


def model(name: str) -> str:
    """Folder of an initial model."""
    return f"{SHARED}/models/{name}"


def pretrained(name: str) -> str:
    """Folder of a pre-training run: one folder per checkpoint of its ladder."""
    return f"{SHARED}/pretrained/{name}/ladder"


def pretraining_metrics(name: str) -> str:
    """Loss by step of a pre-training run."""
    return f"{SHARED}/pretrained/{name}/metrics.tsv"


def pretraining_throughput(name: str) -> str:
    """Tokens per second of a pre-training run."""
    return f"{SHARED}/pretrained/{name}/throughput.tsv"


def checkpoint(name: str, step: int) -> str:
    """Folder of one checkpoint. It lies inside the ladder folder, which is what a rule depends on."""
    return f"{pretrained(name)}/{checkpoint_name(step)}"


def checkpoint_name(step: int) -> str:
    """Name of the checkpoint after `step` optimizer steps."""
    return f"step-{step:08d}"


def evaluation(name: str) -> str:
    """Validation losses of a ladder, one row per checkpoint and batch."""
    return f"{SHARED}/evaluated/{name}.tsv"


def examples(task: str) -> str:
    """Examples of a task."""
    return f"{SHARED}/tasks/{task}/examples.parquet"


def baselines(task: str) -> str:
    """Trivial and bag-of-words baselines of a task."""
    return f"{SHARED}/tasks/{task}/baselines.tsv"


def finetuned(key: str) -> str:
    """Folder of a fine-tuned cell; `key` is model/task/cell."""
    return f"{SHARED}/finetuned/{key}"


def result(paper: str, name: str) -> str:
    """A result file of a paper."""
    return f"results/{paper}/{name}"
