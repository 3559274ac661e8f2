"""The rule of each stage that uses a GPU: the equal runs that one of its jobs consists of."""

from collections.abc import Callable, Iterator, Mapping

from reprlab.planning.cost_rules import language_models, representations, structures, tasks
from reprlab.planning.cost_rules.jobs import Described, Jobs
from reprlab.planning.plan import Job

Rule = Callable[[Jobs, str, Job], Iterator[Described]]

RULES: Mapping[str, Rule] = {
    rule.__name__: rule
    for rule in (
        language_models.pretrain_lm,
        language_models.evaluate_lm,
        language_models.evaluate_mask_controls,
        language_models.evaluate_merges,
        language_models.train_autoencoder,
        language_models.evaluate_autoencoder,
        language_models.encode_features,
        tasks.finetune_model,
        tasks.measure_finetuning,
        tasks.finetune_completions,
        tasks.score_completions,
        tasks.train_seq2seq,
        tasks.generate_seq2seq,
        representations.train_adapter,
        representations.collect_states,
        representations.measure_layers,
        representations.prune_block,
        representations.train_encoder,
        representations.train_prompt,
        representations.evaluate_encoder,
        representations.retrieve_passages,
        representations.train_reranker,
        representations.rerank_passages,
        representations.measure_rerankers,
        structures.train_retriever,
        structures.rank_partners,
        structures.train_pair_classifier,
        structures.classify_pairs,
        structures.time_pairs,
        structures.train_coreference,
        structures.probe_coreference,
        structures.train_recogniser,
        structures.train_describer,
        structures.describe_tracks,
        structures.train_prefix,
        structures.describe_by_prefix,
    )
}
"""By stage."""

WITHOUT_RULE: Mapping[str, str] = {
    "estimate_dimension": "distances among some thousand states, seconds a layer",
    "measure_token_clouds": "two passes over some hundred prompts, beside thousands of which states are collected",
    "post_train": "no paper plans it as published",
}
"""Stages that use a GPU and are not counted, with the reason."""
