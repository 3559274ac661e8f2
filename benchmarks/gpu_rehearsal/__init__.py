"""Rehearsal of published steps with random weights, before a GPU hour is spent."""
