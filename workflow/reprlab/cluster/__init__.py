"""Runs on clusters."""
