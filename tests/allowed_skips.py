"""Reasons for which a test may be skipped; any other skip fails the run."""

ALLOWED = (
    "Debian's Slurm packages cannot be had here",
    "mounting needs root",
    "needs the client",
    "REPRLAB_MIRROR has no released prompts",
    "REPRLAB_MIRROR has no Event StoryLine Corpus",
    "REPRLAB_MIRROR has no tagged sentences",
    "spaCy is an extra",
    "the audio extra is not installed",
    "Debian's Chromium cannot be had here",
)
