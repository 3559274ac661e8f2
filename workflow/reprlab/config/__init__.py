"""Typed settings, their loading, validation and rendering."""
