"""Jobs around hidden states that any paper may ask for: prompts, adapters, collection, intrinsic dimension."""

from reprlab.planning import paths
from reprlab.planning.plan import Job, Plan
from reprlab.representations.settings import AdapterSettings, CollectSettings, DimensionSettings, PromptSettings


def add_prompts(plan: Plan, key: str, examples: str, settings: PromptSettings) -> str:
    """Plan prompts; `key` is dataset/cell. Returns their path."""
    return plan.add("build_prompts", key, Job({"examples": examples}, {"settings": settings}))["out"]


def add_adapter(plan: Plan, key: str, model: str, tokenizer: str, prompts: str, settings: AdapterSettings) -> str:
    """Plan the fine-tuning of adapters; `key` is model/dataset/cell. Returns the folder of their ladder."""
    inputs = {"model": model, "tokenizer": tokenizer, "prompts": prompts}
    return plan.add("train_adapter", key, Job(inputs, {"settings": settings}))["out"]


def add_states(
    plan: Plan, key: str, model: str, tokenizer: str, prompts: str, settings: CollectSettings, adapters: str = ""
) -> str:
    """Plan the collection of states; `key` is model/dataset/cell. Returns the table of their items."""
    inputs = {"model": model, "tokenizer": tokenizer, "prompts": prompts, "adapters": adapters}
    return plan.add("collect_states", key, Job(inputs, {"settings": settings}))["table"]


def add_dimension(plan: Plan, key: str, settings: DimensionSettings) -> str:
    """Plan the estimates on states that are planned under the same key. Returns their table."""
    inputs = {"states": paths.output("collect_states", "out", key)}
    return plan.add("estimate_dimension", key, Job(inputs, {"settings": settings}))["out"]
