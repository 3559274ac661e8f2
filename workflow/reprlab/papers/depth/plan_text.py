"""DEPTH's text: passages, tokenizer, token ids in the formats of both objectives."""

from dataclasses import dataclass

from reprlab.config.load import LoadedConfig
from reprlab.papers.depth.schema import DepthSettings
from reprlab.planning.language_model_jobs import add_sentences, add_tokens, add_trained_tokenizer
from reprlab.planning.plan import Plan
from reprlab.runtime.errors import ReprlabError
from reprlab.settings.base import derive
from reprlab.text.token_settings import TokenStorageSettings
from reprlab.text.tokenizers import TokenizerSettings
from reprlab.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class Text:
    """Paths that later stages read."""

    tokenizer: str
    tokens: dict[str, str]
    """Token ids by objective."""


def vocabulary_rows(paper: DepthSettings) -> int:
    """Rows of the models' embedding."""
    wanted = paper.tokenizer
    return Vocabulary(wanted.pieces, wanted.sentinels, wanted.sentence_tokens).padded_size


def add_text(plan: Plan, config: LoadedConfig, paper: DepthSettings) -> Text:
    """Plan everything up to token ids."""
    sentences = add_passages(plan, config, paper, paper.data.corpus)
    tokenizer = _add_tokenizer(plan, config, paper, sentences)
    tokens = {}
    for objective in ("t5", "depth"):
        # The formats differ, so an edit of one objective's text never reruns the other's.
        settings = TokenStorageSettings(
            format=objective,
            max_length=paper.lengths.input,
            max_sentences=paper.segmentation.max_sentences,
            seed=paper.pretraining.collator_seed,
        )
        name = f"{paper.data.corpus}_depth_{objective}"
        tokens[objective] = add_tokens(plan, name, sentences, tokenizer, settings)
    return Text(tokenizer=tokenizer, tokens=tokens)


def add_passages(plan: Plan, config: LoadedConfig, paper: DepthSettings, corpus: str) -> str:
    """Plan the passages of a corpus; returns their path."""
    sharded = config.datasets.corpora[corpus].reader == "c4_hub"
    options = {"train_shards": paper.data.shards} if sharded else None
    return add_sentences(plan, config, corpus, "depth", paper.segmentation, options)


def _add_tokenizer(plan: Plan, config: LoadedConfig, paper: DepthSettings, sentences: str) -> str:
    wanted, weights = paper.tokenizer, paper.pretraining.published_weights
    if wanted.source == "trained":
        settings = derive(TokenizerSettings, wanted)
        return add_trained_tokenizer(plan, f"depth_unigram_{paper.data.corpus}", sentences, settings)
    hub = config.models[weights].origin
    if hub.kind != "hub":
        raise ReprlabError(
            "papers.depth.tokenizer.source is model, but papers.depth.pretraining.published_weights = "
            f"{weights} does not come from the hub; set the source to trained"
        )
    settings = derive(TokenizerSettings, wanted, model=hub.repository, revision=hub.revision)
    return add_trained_tokenizer(plan, f"depth_{weights}", "", settings)
