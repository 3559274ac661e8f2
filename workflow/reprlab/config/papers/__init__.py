"""The settings model of each paper, by slug, in the order of the report."""

from reprlab.config.papers.amuro_char import AmuroCharSettings
from reprlab.config.papers.depth import DepthSettings
from reprlab.config.papers.domain_adaptive_masking import DomainAdaptiveMaskingSettings
from reprlab.config.papers.event_relations import EventRelationsSettings
from reprlab.config.papers.intrinsic_dimension import IntrinsicDimensionSettings
from reprlab.config.papers.overparameterized_encoders import OverparameterizedEncodersSettings
from reprlab.config.papers.prompt_tuning_encoders import PromptTuningEncodersSettings
from reprlab.config.papers.punctuation_restoration import PunctuationRestorationSettings
from reprlab.config.papers.ssm_rerankers import SsmRerankersSettings
from reprlab.config.papers.vocab_memory import VocabMemorySettings
from reprlab.config.settings import Settings

PAPERS: dict[str, type[Settings]] = {
    "depth": DepthSettings,
    "vocab-memory": VocabMemorySettings,
    "amuro-char": AmuroCharSettings,
    "intrinsic-dimension": IntrinsicDimensionSettings,
    "event-relations": EventRelationsSettings,
    "overparameterized-encoders": OverparameterizedEncodersSettings,
    "ssm-rerankers": SsmRerankersSettings,
    "prompt-tuning-encoders": PromptTuningEncodersSettings,
    "domain-adaptive-masking": DomainAdaptiveMaskingSettings,
    "punctuation-restoration": PunctuationRestorationSettings,
}
