"""Features of language models: merged models, autoencoders, their features on one sample, what becomes of them."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "mix_corpora",
        "Mix the corpora of {tokens}",
        {"out": "results/shared/mixtures/{tokens}.parquet"},
    ),
    Stage(
        "merge_models",
        "Merge the models of {model}",
        {"out": "results/shared/merged/{model}/"},
        mb=4000,
        # Singular values of all matrices of a large model take their time.
        minutes=240,
        grows="both",
    ),
    Stage(
        "evaluate_merges",
        "Measure models and their merges of {evaluation}",
        {"out": "results/shared/merge_losses/{evaluation}.tsv"},
        mb=4000,
        minutes=240,
        gpu=True,
    ),
    Stage(
        "train_autoencoder",
        "Train a sparse autoencoder of {model} ({cell})",
        within(
            "results/shared/autoencoders/{model}/{cell}",
            out="autoencoder/",
            metrics="metrics.tsv",
            throughput="throughput.tsv",
        ),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
        array=True,
    ),
    Stage(
        "evaluate_autoencoder",
        "Measure the sparse autoencoder of {model} ({cell})",
        within("results/shared/autoencoder_quality/{model}", out="{cell}.tsv", densities="{cell}.parquet"),
        mb=4000,
        minutes=60,
        gpu=True,
        array=True,
    ),
    Stage(
        "sample_tokens",
        "Draw the sample of tokens of {tokens}",
        {"out": "results/shared/token_samples/{tokens}.parquet"},
    ),
    Stage(
        "encode_features",
        "Encode features of {model} ({cell})",
        {"out": "results/shared/features/{model}/{cell}/"},
        mb=4000,
        minutes=60,
        gpu=True,
        array=True,
    ),
    Stage(
        "compare_features",
        "Compare features of {model} ({cell})",
        within("results/shared/feature_flow/{model}", out="{cell}.tsv", links="{cell}.parquet"),
        mb=6000,
        minutes=240,
    ),
    Stage(
        "describe_features",
        "Describe features of {model} ({cell})",
        within(
            "results/shared/feature_cases/{model}/{cell}",
            out="cases.tsv",
            contexts="contexts.tsv",
            formatting="formatting.tsv",
        ),
        mb=4000,
        minutes=60,
    ),
    Stage(
        "interpret_features",
        "Interpret features of {model} ({cell})",
        {"out": "results/shared/interpreted/{model}/{cell}.tsv"},
        mb=4000,
        minutes=1440,
        asks=True,
    ),
)
