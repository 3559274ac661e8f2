"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.music_video_description.results import RESULTS
from reprlab.reporting.answers import Answer

TITLE = "Cross-Modal Learning for Music-to-Music-Video Description Generation"
AUTHORS = "Zhuoyuan Mao, Mengjie Zhao, Qiyu Wu, Zhi Zhong, Wei-Hsiang Liao, Hiromi Wakaki, Yuki Mitsufuji"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Which inputs does a language model need to describe a video for a piece of music?"
ANSWERS = (
    Answer(
        "Does the music matter for the description, beside what is said in words?",
        "M6",
        "yes, music matters",
        "no, music adds nothing",
    ),
    Answer(
        "Does what the music says reach the text at all?",
        "M9",
        "yes, music reaches the text",
        "no, nothing of it arrives",
    ),
)
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
