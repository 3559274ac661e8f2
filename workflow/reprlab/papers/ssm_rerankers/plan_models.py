"""Language models as rerankers start from them: published ones as they are, random ones warmed up."""

from reprlab.config.load import LoadedConfig
from reprlab.config.papers.ssm_rerankers import SsmRerankersSettings
from reprlab.papers import warm_starts
from reprlab.papers.plan import Plan
from reprlab.papers.warm_starts import Recipe, Start

# The objective of a random model's warm start; other architectures are trained to rerank from random weights.
_OBJECTIVES = {"bert_mlm": "masked_lm"} | dict.fromkeys(("opt", "llama", "mamba", "mamba2"), "causal_lm")


def add_start(plan: Plan, config: LoadedConfig, paper: SsmRerankersSettings, model: str) -> Start:
    """Plan a language model and, where it is random, its warm start.

    Raises:
        ReprlabError: it is random and no corpus is named.
    """
    objective = _OBJECTIVES.get(config.models[model].architecture)
    masked = {"mask_probability": paper.warm_start.mask_probability} if objective == "masked_lm" else {}
    recipe = Recipe(
        warm=paper.warm_start,
        setting="papers.ssm-rerankers.warm_start",
        name="ssm_rerankers",
        optimizer=paper.training.optimizer,
        schedule=paper.training.schedule,
        objective=objective,
        objective_settings=masked,
        # One sentinel: the mask of an encoder.
        tokenizer={"sentinels": 1, "sentence_tokens": 1},
    )
    return warm_starts.add_start(plan, config, model, recipe)
