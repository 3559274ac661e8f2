"""Declarations of the stages, by what they are about."""
