"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.music_video_description.results import RESULTS

TITLE = "Cross-Modal Learning for Music-to-Music-Video Description Generation"
AUTHORS = "Zhuoyuan Mao, Mengjie Zhao, Qiyu Wu, Zhi Zhong, Wei-Hsiang Liao, Hiromi Wakaki, Yuki Mitsufuji"
URL = "https://aclanthology.org/volumes/2025.repl4nlp-1/"
QUESTION = "Which inputs does a language model need to describe a video for a piece of music?"
TABLES = RESULTS.captions(RESULTS.tables)
FIGURES = RESULTS.captions(RESULTS.figures)
