"""What code of others may rely on: the names in `__all__`, each shown in docs/library.md; all else may change.

from reprlab.library import nearest_distances, two_nn
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "concepts.matching": ["ConceptMatcher"],
    "coreference.scores": ["conll_f1", "score_counts", "score_intervals", "scores_of"],
    "evaluation.paired_bootstrap": ["PairedDifference", "paired_bootstrap"],
    "features.autoencoder": ["SparseAutoencoder"],
    "features.settings": ["AutoencoderShape"],
    "geometry.estimators": ["Dimension", "gride", "levina_bickel", "two_nn", "two_nn_ml"],
    "geometry.neighbours": ["nearest_distances"],
    "models.merges.slerp": ["slerp"],
    "models.pema": ["PartialVocabulary", "adapt_embedding", "keep_states_whole", "restore_embedding"],
    "models.selective_scan": ["selective_scan", "state_space_dual"],
    "objectives.corruption": ["ordered_sentinels", "replace_spans", "span_labels", "span_starts"],
    "objectives.span_mask": ["random_span_mask"],
    "retrieval.bm25": ["bm25_runs"],
    "retrieval.ranking_metrics": ["ranking_scores"],
    "runtime.errors": ["ReprlabError"],
    "sentences.soft_prompts": ["first_vectors", "prefixed", "prompted"],
    "statistics": ["ABOVE_ZERO", "BELOW_ZERO", "Estimate", "Rule", "Verdict", "difference_over_pairs", "judge"],
    "text.vocabulary": ["Vocabulary"],
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """A name of `__all__`, from the module that has it, which is imported when it is first asked for."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; docs/library.md shows what it has")
    return getattr(import_module(f"reprlab.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
