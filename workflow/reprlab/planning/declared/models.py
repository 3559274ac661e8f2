"""Language models: initial weights, pre-training with a ladder of checkpoints, fine-tuning."""

from reprlab.planning.stage import FIRST, Stage, within

STAGES = (
    Stage(
        "build_model",
        "Build the model {model}",
        {"out": "results/shared/models/{model}/"},
        mb=4000,
        minutes=60,
        priority=FIRST,
    ),
    # Every fine-tuning waits for one: the last of them would run alone, and then what waits for it.
    Stage(
        "pretrain_lm",
        "Pre-train {model}",
        within("results/shared/pretrained/{model}", out="ladder/", metrics="metrics.tsv", throughput="throughput.tsv"),
        mb=4000,
        minutes=1440,
        grows="both",
        gpu=True,
        torchrun=True,
        priority=10,
    ),
    Stage(
        "evaluate_lm",
        "Measure the validation losses of {evaluation}",
        {"out": "results/shared/evaluated/{evaluation}.tsv"},
        mb=4000,
        minutes=240,
        gpu=True,
    ),
    Stage(
        "finetune_model",
        "Fine-tune {model} on {task} ({cell})",
        within(
            "results/shared/finetuned/{model}/{task}/{cell}",
            out_metrics="metrics.tsv",
            out_predictions="predictions.parquet",
        ),
        mb=4000,
        minutes=720,
        grows="both",
        gpu=True,
        array=True,
    ),
    Stage(
        "select_learning_rate",
        "Select the learning rates of {model} on {task}",
        within("results/shared/finetuned/{model}/{task}", out="{cell}.selected.json", collected="{cell}.metrics.tsv"),
        mb=500,
        minutes=10,
        local=True,
    ),
    Stage(
        "measure_finetuning",
        "Measure fine-tuning of {model} on {task} ({cell})",
        {"out": "results/shared/measured/{model}/{task}/{cell}.tsv"},
        mb=4000,
        minutes=720,
        grows="both",
        gpu=True,
        array=True,
    ),
    Stage(
        "pema_adapt",
        "Cut {model} to the tokens of {task}",
        {"out": "results/shared/pema/{model}/{task}/"},
        mb=4000,
        minutes=60,
        grows="memory",
    ),
    Stage(
        "pema_restore",
        "Make {model} whole after {task} ({cell})",
        {"out": "results/shared/restored/{model}/{task}/{cell}/"},
        mb=4000,
        minutes=60,
        grows="memory",
    ),
    Stage(
        "preview_corruption",
        "Show corrupted examples of {objective}",
        {"out": "results/depth/preview_{objective}.tsv"},
        minutes=10,
    ),
)
