"""Metrics, baselines and intervals."""
