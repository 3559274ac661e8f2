"""Jobs around vocabularies that any paper may ask for: token counts, sizes of models."""

from collections.abc import Iterable

from reprlab.config.load import LoadedConfig
from reprlab.models.sizes import SizedModels
from reprlab.planning.plan import Job, Plan
from reprlab.planning.shared_jobs import add_tokenizer
from reprlab.text.token_counts import CountSettings
from reprlab.text.vocabulary_use import UseSettings


def add_token_counts(
    plan: Plan, config: LoadedConfig, model: str, data: str, source: str, settings: CountSettings
) -> str:
    """Plan the counts of a model's tokens in the file `source`; returns the file of counts.

    Args:
        model: the model whose tokenizer counts.
        data: name of the data set, part of the result's name.
    """
    length = f"l{settings.max_length}" if settings.max_length else "whole"
    job = Job({"source": source, "tokenizer": add_tokenizer(plan, config, model)}, {"settings": settings})
    return plan.add("count_tokens", f"{model}/{data}_{length}", job)["out"]


def add_vocabulary_use(plan: Plan, name: str, settings: UseSettings) -> str:
    """Plan what several counts use together; returns the table."""
    files = {str(path) for columns in settings.counts.values() for paths in columns.values() for path in paths}
    after = sorted(files | {str(path) for path in settings.tokenizers.values()})
    return plan.add("unite_counts", name, Job({"after": after}, {"settings": settings}))["out"]


def add_model_sizes(plan: Plan, config: LoadedConfig, name: str, models: Iterable[str]) -> str:
    """Plan the table of sizes of some models with a head for two labels; returns it."""
    entries = {model: config.models[model] for model in dict.fromkeys(models)}
    return plan.add("count_parameters", name, Job(settings={"models": SizedModels(entries=entries)}))["out"]
