"""Sentence encoders: losses by layer, contrastive training, scores."""

from reprlab.planning.stage import FIRST, Stage, within

STAGES = (
    # Losses by layer and trainings wait for it.
    Stage(
        "tokenize_triples",
        "Tokenise triples by {tokenizer} ({cell})",
        {"out": "results/shared/triples/{tokenizer}/{cell}/"},
        mb=8000,
        minutes=120,
        grows="both",
        priority=FIRST,
    ),
    # A training waits for it, and scores for that: left to the end they would run alone.
    Stage(
        "measure_layers",
        "Measure the losses of the layers of {model} ({cell})",
        {"out": "results/shared/layer_losses/{model}/{cell}.tsv"},
        mb=4000,
        minutes=120,
        grows="both",
        gpu=True,
        priority=10,
    ),
    Stage(
        "count_encoders",
        "Count the parameters of the encoders of {cell}",
        {"out": "results/shared/encoder_sizes/{cell}.tsv"},
        minutes=20,
    ),
    # Training and scores wait for it: left to the end they would run alone.
    Stage(
        "post_train",
        "Post-train {model} ({cell})",
        within("results/shared/post_trained/{model}/{cell}", out="model/", metrics="metrics.tsv"),
        mb=6000,
        minutes=720,
        grows="both",
        gpu=True,
        torchrun=True,
        priority=10,
    ),
    # Training and scores wait for it.
    Stage(
        "prune_block",
        "Remove a block of layers of {model} ({cell})",
        within("results/shared/pruned/{model}/{cell}", out="model/", blocks="blocks.tsv"),
        mb=4000,
        minutes=120,
        grows="both",
        gpu=True,
        priority=10,
    ),
    # In one process: several would share the negatives of a batch. Scores are short and fill what it leaves.
    Stage(
        "train_encoder",
        "Train {model} as a sentence encoder ({cell})",
        within("results/shared/encoders/{model}/{cell}", out="encoders/", metrics="metrics.tsv", cost="cost.tsv"),
        mb=6000,
        minutes=720,
        grows="both",
        gpu=True,
        priority=5,
    ),
    # Apart from `train_encoder`, whose jobs would be trained again with an edit of a form of prompts.
    Stage(
        "train_prompt",
        "Train a prompt of {model} in another form ({cell})",
        within("results/shared/prompts/{model}/{cell}", out="encoders/", metrics="metrics.tsv"),
        mb=6000,
        minutes=720,
        grows="both",
        gpu=True,
        priority=5,
    ),
    Stage(
        "evaluate_encoder",
        "Score the sentence encoder {model} ({cell})",
        {"out": "results/shared/encoder_scores/{model}/{cell}.tsv"},
        mb=4000,
        minutes=240,
        grows="both",
        gpu=True,
    ),
    Stage(
        "evaluate_text_baselines",
        "Score random vectors and character n-grams on the tasks of {cell}",
        {"out": "results/shared/text_baselines/{cell}.tsv"},
        mb=4000,
        grows="memory",
    ),
    # Made only where it is asked for: `make export ENCODER=<model>/<cell>`.
    Stage(
        "export_encoder",
        "Export the sentence encoder {model} ({cell})",
        {"out": "results/shared/sentence_transformers/{model}/{cell}/"},
        mb=4000,
        grows="both",
    ),
)
