"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.asr_adapters.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Investigating Adapters for Parameter-efficient Low-resource Automatic Speech Recognition"
AUTHORS = "Ahnaf Mozib Samin, Shekhar Nayak, Andrea DeMarco, Claudia Borg"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "With how much speech are adapters in a frozen speech encoder as good as tuning all of it?"
ANSWERS = (
    Answer(
        "With little speech, does ConvAdapt work where bottleneck adapters fail?",
        "A2",
        "yes, ConvAdapt is far better",
        "no, it is not better",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
