"""Geometry of hidden states: nearest neighbours, intrinsic dimension, area under its curve over layers."""
