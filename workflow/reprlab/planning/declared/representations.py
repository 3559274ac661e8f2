"""Hidden states: prompts, low-rank adapters, collection, intrinsic dimension."""

from reprlab.planning.stage import Stage, within

STAGES = (
    Stage(
        "build_prompts",
        "Write the prompts {cell} of {dataset}",
        {"out": "results/shared/prompts/{dataset}/{cell}.parquet"},
        mb=1000,
    ),
    Stage(
        "score_prompt_baselines",
        "Score answers to the prompts of {dataset} ({cell}) that need no model",
        {"out": "results/shared/prompt_baselines/{dataset}/{cell}.tsv"},
    ),
    Stage(
        "train_adapter",
        "Fine-tune adapters of {model} on {dataset}",
        within("results/shared/adapters/{model}/{dataset}/{cell}", out="ladder/", metrics="metrics.tsv"),
        mb=8000,
        minutes=1440,
        grows="both",
        gpu=True,
    ),
    Stage(
        "collect_states",
        "Collect states of {model} for {dataset} ({cell})",
        within(
            "results/shared/states/{model}/{dataset}/{cell}", out="layers/", table="items.parquet", scores="scores.tsv"
        ),
        mb=4000,
        minutes=720,
        grows="both",
        gpu=True,
        array=True,
    ),
    Stage(
        "measure_token_clouds",
        "Measure the tokens of single prompts with {model} for {dataset} ({cell})",
        {"out": "results/shared/token_clouds/{model}/{dataset}/{cell}.tsv"},
        mb=4000,
        minutes=240,
        grows="both",
        gpu=True,
    ),
    Stage(
        "estimate_dimension",
        "Estimate dimensions of {model} for {dataset} ({cell})",
        {"out": "results/shared/dimensions/{model}/{dataset}/{cell}.tsv"},
        minutes=240,
        gpu=True,
        array=True,
    ),
)
