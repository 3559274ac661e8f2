"""Where each stage writes, relative to the folder of the run: the one place that says so.

A pattern names its wildcards in braces; those of a stage's first output make the key of a job, joined with `/`. Output
names are the parameters of the stage's function. A pattern that ends in `/` is a folder.
"""

import functools
import re

SHARED = "results/shared"
ONLY = "all"
"""Key of the one job of a stage without wildcards."""

OUTPUTS: dict[str, dict[str, str]] = {
    "fetch_archive": {"receipt": f"{SHARED}/archives/{{archive}}.json"},
    "build_documents": {"out": f"{SHARED}/corpora/{{corpus}}/documents.parquet"},
    "build_examples": {"out": f"{SHARED}/tasks/{{dataset}}/examples.parquet"},
    "segment_documents": {"out": f"{SHARED}/corpora/{{corpus}}/{{segmentation}}/sentences.parquet"},
    "train_tokenizer": {"out": f"{SHARED}/tokenizers/{{tokenizer}}/"},
    "tokenize_corpus": {"out": f"{SHARED}/tokens/{{tokens}}.parquet"},
    "build_graph": {"out": f"{SHARED}/graphs/{{corpus}}/graph.parquet"},
    "count_concepts": {"out": f"{SHARED}/graphs/{{corpus}}/counts/{{cell}}.parquet"},
    "select_concepts": {"out": f"{SHARED}/curricula/{{cell}}/basic.txt"},
    "expand_concepts": {"out": f"{SHARED}/curricula/{{cell}}/expanded.parquet"},
    "filter_concepts": {
        "out": f"{SHARED}/curricula/{{cell}}/concepts.txt",
        "record": f"{SHARED}/curricula/{{cell}}/curriculum.json",
        "metrics": f"{SHARED}/curricula/{{cell}}/sizes.tsv",
    },
    "sweep_concepts": {"out": f"{SHARED}/curricula/{{cell}}/thresholds.tsv"},
    "tokenize_blocks": {"out": f"{SHARED}/blocks/{{tokens}}.parquet"},
    "mark_concepts": {
        "out": f"{SHARED}/marked/{{tokens}}/tokens.parquet",
        "metrics": f"{SHARED}/marked/{{tokens}}/metrics.tsv",
    },
    "build_model": {"out": f"{SHARED}/models/{{model}}/"},
    "extract_tokenizer": {"out": f"{SHARED}/model_tokenizers/{{model}}/"},
    "count_tokens": {
        "out": f"{SHARED}/token_counts/{{model}}/{{dataset}}.safetensors",
        "summary": f"{SHARED}/token_counts/{{model}}/{{dataset}}.tsv",
    },
    "unite_counts": {"out": f"{SHARED}/vocabulary_use/{{dataset}}.tsv"},
    "count_parameters": {"out": f"{SHARED}/model_sizes/{{model}}.tsv"},
    "pretrain_lm": {
        "out": f"{SHARED}/pretrained/{{model}}/ladder/",
        "metrics": f"{SHARED}/pretrained/{{model}}/metrics.tsv",
        "throughput": f"{SHARED}/pretrained/{{model}}/throughput.tsv",
    },
    "evaluate_lm": {"out": f"{SHARED}/evaluated/{{evaluation}}.tsv"},
    "finetune_model": {
        "out_metrics": f"{SHARED}/finetuned/{{model}}/{{task}}/{{cell}}/metrics.tsv",
        "out_predictions": f"{SHARED}/finetuned/{{model}}/{{task}}/{{cell}}/predictions.parquet",
    },
    "pema_adapt": {"out": f"{SHARED}/pema/{{model}}/{{task}}/"},
    "pema_restore": {"out": f"{SHARED}/restored/{{model}}/{{task}}/{{cell}}/"},
    "select_learning_rate": {
        "out": f"{SHARED}/finetuned/{{model}}/{{task}}/{{cell}}.selected.json",
        "collected": f"{SHARED}/finetuned/{{model}}/{{task}}/{{cell}}.metrics.tsv",
    },
    "measure_finetuning": {"out": f"{SHARED}/measured/{{model}}/{{task}}/{{cell}}.tsv"},
    "evaluate_baselines": {"out": f"{SHARED}/tasks/{{dataset}}/baselines.tsv"},
    "count_entities": {"out": f"{SHARED}/tasks/{{dataset}}/entities.tsv"},
    "build_prompts": {"out": f"{SHARED}/prompts/{{dataset}}/{{cell}}.parquet"},
    "train_adapter": {
        "out": f"{SHARED}/adapters/{{model}}/{{dataset}}/{{cell}}/ladder/",
        "metrics": f"{SHARED}/adapters/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
    },
    "collect_states": {
        "out": f"{SHARED}/states/{{model}}/{{dataset}}/{{cell}}/layers/",
        "table": f"{SHARED}/states/{{model}}/{{dataset}}/{{cell}}/items.parquet",
        "scores": f"{SHARED}/states/{{model}}/{{dataset}}/{{cell}}/scores.tsv",
    },
    "estimate_dimension": {"out": f"{SHARED}/dimensions/{{model}}/{{dataset}}/{{cell}}.tsv"},
    "build_completions": {"out": f"{SHARED}/completions/{{dataset}}/{{cell}}.parquet"},
    "finetune_completions": {
        "out": f"{SHARED}/tuned/{{model}}/{{task}}/{{cell}}/models/",
        "metrics": f"{SHARED}/tuned/{{model}}/{{task}}/{{cell}}/metrics.tsv",
    },
    "score_completions": {
        "out": f"{SHARED}/scored/{{model}}/{{task}}/{{cell}}/scores.tsv",
        "predictions": f"{SHARED}/scored/{{model}}/{{task}}/{{cell}}/predictions.parquet",
    },
    "parse_sentences": {"out": f"{SHARED}/tasks/{{dataset}}/parses.parquet"},
    "train_retriever": {
        "out": f"{SHARED}/retrievers/{{model}}/{{dataset}}/{{cell}}/models/",
        "metrics": f"{SHARED}/retrievers/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
    },
    "rank_partners": {
        "out": f"{SHARED}/rankings/{{model}}/{{dataset}}/{{cell}}/seeds/",
        "metrics": f"{SHARED}/rankings/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
    },
    "train_pair_classifier": {
        "out": f"{SHARED}/pair_classifiers/{{model}}/{{dataset}}/{{cell}}/models/",
        "metrics": f"{SHARED}/pair_classifiers/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
    },
    "classify_pairs": {
        "out": f"{SHARED}/classified/{{model}}/{{dataset}}/{{cell}}/predictions.parquet",
        "metrics": f"{SHARED}/classified/{{model}}/{{dataset}}/{{cell}}/scores.tsv",
    },
    "ask_relations": {
        "out": f"{SHARED}/answered/{{dataset}}/{{cell}}/predictions.parquet",
        "metrics": f"{SHARED}/answered/{{dataset}}/{{cell}}/scores.tsv",
    },
    "contrast_answers": {"out": f"{SHARED}/contrasts/{{model}}/{{dataset}}/{{cell}}.tsv"},
    "time_pairs": {"out": f"{SHARED}/timed/{{model}}/{{dataset}}/{{cell}}.tsv"},
    "compare_answers": {
        "out": "results/{paper}/case_study.tsv",
        "provenance": "results/{paper}/case_study.provenance.json",
    },
    "build_span_queries": {
        "out": f"{SHARED}/spans/{{dataset}}/{{cell}}/examples.parquet",
        "run": f"{SHARED}/spans/{{dataset}}/{{cell}}/run/",
    },
    "retrieve_passages": {
        "out": f"{SHARED}/runs/{{model}}/{{dataset}}/{{cell}}/splits/",
        "metrics": f"{SHARED}/runs/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
    },
    "train_reranker": {
        "out": f"{SHARED}/rerankers/{{model}}/{{dataset}}/{{cell}}/models/",
        "metrics": f"{SHARED}/rerankers/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
    },
    "rerank_passages": {
        "out": f"{SHARED}/reranked/{{model}}/{{dataset}}/{{cell}}/runs/",
        "metrics": f"{SHARED}/reranked/{{model}}/{{dataset}}/{{cell}}/metrics.tsv",
        "contrasts": f"{SHARED}/reranked/{{model}}/{{dataset}}/{{cell}}/contrasts.tsv",
    },
    "measure_rerankers": {"out": f"{SHARED}/reranker_speed/{{model}}/{{cell}}.tsv"},
    "measure_layers": {"out": f"{SHARED}/layer_losses/{{model}}/{{cell}}.tsv"},
    "train_encoder": {
        "out": f"{SHARED}/encoders/{{model}}/{{cell}}/encoders/",
        "metrics": f"{SHARED}/encoders/{{model}}/{{cell}}/metrics.tsv",
        "cost": f"{SHARED}/encoders/{{model}}/{{cell}}/cost.tsv",
    },
    "export_encoder": {"out": f"{SHARED}/sentence_transformers/{{model}}/{{cell}}/"},
    "post_train": {
        "out": f"{SHARED}/post_trained/{{model}}/{{cell}}/model/",
        "metrics": f"{SHARED}/post_trained/{{model}}/{{cell}}/metrics.tsv",
    },
    "count_encoders": {"out": f"{SHARED}/encoder_sizes/{{cell}}.tsv"},
    "evaluate_encoder": {"out": f"{SHARED}/encoder_scores/{{model}}/{{cell}}.tsv"},
    "build_seq2seq": {
        "out": f"{SHARED}/seq2seq_pairs/{{dataset}}/{{cell}}/pairs.parquet",
        "metrics": f"{SHARED}/seq2seq_pairs/{{dataset}}/{{cell}}/sizes.tsv",
    },
    "train_seq2seq": {
        "out": f"{SHARED}/seq2seq/{{model}}/{{task}}/{{cell}}/ladder/",
        "metrics": f"{SHARED}/seq2seq/{{model}}/{{task}}/{{cell}}/metrics.tsv",
    },
    "generate_seq2seq": {"out": f"{SHARED}/seq2seq_answers/{{model}}/{{task}}/{{cell}}.parquet"},
    "ask_seq2seq": {"out": f"{SHARED}/seq2seq_chat/{{task}}/{{cell}}.parquet"},
    "score_seq2seq": {"out": f"{SHARED}/seq2seq_scores/{{model}}/{{task}}/{{cell}}.tsv"},
    "preview_corruption": {"out": "results/depth/preview_{objective}.tsv"},
    "gather_results": {
        "out": "results/{paper}/results.parquet",
        "provenance": "results/{paper}/results.provenance.json",
    },
    "tabulate_paper": {
        "out": "results/{paper}/{table}.tsv",
        "provenance": "results/{paper}/{table}.provenance.json",
    },
    "sample_predictions": {
        "out": "results/{paper}/error_sample.tsv",
        "provenance": "results/{paper}/error_sample.provenance.json",
    },
    "compare_published": {
        "out": "results/{paper}/comparison.tsv",
        "provenance": "results/{paper}/comparison.provenance.json",
    },
    "audit_paper": {"out": "results/{paper}/audit.tsv", "provenance": "results/{paper}/audit.provenance.json"},
    "test_claims": {"out": "results/{paper}/claims.tsv", "provenance": "results/{paper}/claims.provenance.json"},
    "estimate_cost": {"out": "results/{paper}/cost.tsv", "provenance": "results/{paper}/cost.provenance.json"},
    "sum_hours": {"out": "results/{paper}/gpu_hours.tsv", "provenance": "results/{paper}/gpu_hours.provenance.json"},
    "plot_figure": {name: f"results/{{paper}}/{{figure}}.{name}" for name in ("png", "svg", "pdf")},
    "write_report": {"out": "results/report.html", "summary": "results/summary.tsv"},
}

# What `snakemake --report` shows of each paper: the heading of a stage's results, and the output that is shown.
REPORTED = {
    "tabulate_paper": ("Tables", "out"),
    "sample_predictions": ("Predictions for annotation", "out"),
    "plot_figure": ("Figures", "png"),
    "compare_published": ("Beside the published values", "out"),
    "test_claims": ("Claims", "out"),
    "audit_paper": ("Audit of the paper's arithmetic", "out"),
    "estimate_cost": ("Cost", "out"),
    "sum_hours": ("Hours", "out"),
}


@functools.cache
def wildcards(stage: str) -> tuple[str, ...]:
    """The names whose values, joined with `/`, are the key of a job of this stage."""
    return tuple(dict.fromkeys(re.findall(r"{(\w+)}", next(iter(OUTPUTS[stage].values())))))


def wildcard_values(stage: str, key: str) -> dict[str, str]:
    """The wildcards of the job `key`."""
    names = wildcards(stage)
    return dict(zip(names, key.split("/"), strict=True)) if names else {}


def output(stage: str, name: str, key: str) -> str:
    """One output of a job."""
    return OUTPUTS[stage][name].format(**wildcard_values(stage, key)).rstrip("/")


def outputs(stage: str, key: str) -> dict[str, str]:
    """All outputs of a job by name."""
    return {name: output(stage, name, key) for name in OUTPUTS[stage]}


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
