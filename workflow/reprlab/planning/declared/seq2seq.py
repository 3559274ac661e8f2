"""Pairs of texts: made, trained on, answered and scored, each by a stage of its own."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "build_seq2seq",
        "Pair sources and targets of {dataset} ({cell})",
        within("results/shared/seq2seq_pairs/{dataset}/{cell}", out="pairs.parquet", metrics="sizes.tsv"),
        mb=4000,
        minutes=60,
    ),
    Stage(
        "train_seq2seq",
        "Train {model} on pairs of {task} ({cell})",
        within("results/shared/seq2seq/{model}/{task}/{cell}", out="ladder/", metrics="metrics.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
    ),
    Stage(
        "generate_seq2seq",
        "Answer pairs of {task} with {model} ({cell})",
        {"out": "results/shared/seq2seq_answers/{model}/{task}/{cell}.parquet"},
        mb=4000,
        minutes=240,
        gpu=True,
    ),
    Stage(
        "ask_seq2seq",
        "Ask a chat model about {task} ({cell})",
        {"out": "results/shared/seq2seq_chat/{task}/{cell}.parquet"},
        minutes=240,
        asks=True,
    ),
    Stage(
        "score_seq2seq",
        "Score the answers of {model} on {task} ({cell})",
        {"out": "results/shared/seq2seq_scores/{model}/{task}/{cell}.tsv"},
    ),
)
