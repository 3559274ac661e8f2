"""Sentence encoders from pruned decoders, L3Prune (slug `overparameterized-encoders`)."""
