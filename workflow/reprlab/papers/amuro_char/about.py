"""What the report says about the paper: title, and what its tables and figures show."""

from reprlab.papers.amuro_char.figures_names import CAPTIONS

TITLE = "Amuro & Char: Analyzing the Relationship between Pre-Training and Fine-Tuning of Large Language Models"
AUTHORS = "Kaiser Sun, Mark Dredze"
URL = "https://aclanthology.org/2025.repl4nlp-1.11/"
QUESTION = (
    "What does fine-tuning add to a model at each point of its pre-training, what does it make the model forget, and "
    "does longer pre-training show after fine-tuning where it does not show before?"
)
TABLES = {
    "table3_prediction_method": "Three ways to read a label, final checkpoint (Table 3).",
    "table6_perf_diff": "Mean gain of fine-tuning by group of sets, with and without the repeated SciQ (Table 6).",
    "mrc": "Ratios of change between classification and generation, and their mean (equation 1, section 4.3).",
    "ood_change": "Change on sets of the same task from elsewhere, as ratio and as difference (Figures 5, 15).",
    "unlabelled_gold": "What scoring sets without labels as if all golds were 'no' does.",
    "format": "Scores by format of the prompt (Figures 2, 3, 14).",
    "fig6_fewshot_base": "Models before fine-tuning, by number of demonstrations (Figure 6).",
    "curves": "Base and fine-tuned models along pre-training, by figure (Figures 7, 9 to 13).",
    "gpu_hours": "Hours of this run beside those of Table 4.",
    "perf": "Every score in long form, with its majority baseline and histogram of predictions.",
}
FIGURES = CAPTIONS
