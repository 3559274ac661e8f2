"""Title, authors and captions of the paper in the report."""

from reprlab.papers.prompt_tuning_encoders.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Prompt Tuning Can Simply Adapt Large Language Models to Text Encoders"
AUTHORS = "Kaiyan Zhao, Qiyu Wu, Zhongtao Miao, Yoshimasa Tsuruoka"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Does a frozen decoder become a sentence encoder by a few trained vectors behind the text?"
ANSWERS = (
    Answer(
        "Does one trained vector make a frozen decoder a better encoder?",
        "P1",
        "yes, one vector helps",
        "no, one vector harms",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
