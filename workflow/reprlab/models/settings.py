"""Choices of models that settings name: apart from the models, for many stages read settings alone."""

from typing import Literal

Features = Literal["concatenated", "compared"]
"""Input of a head from two spans: [r_h; r_t] (the paper), or [r_h; r_t; r_h * r_t; |r_h - r_t|]."""
