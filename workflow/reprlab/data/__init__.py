"""Acquisition, archives, schemas, splits and readers of real data."""
