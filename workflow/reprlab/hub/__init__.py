"""Repositories of the Hugging Face hub: commits of branches, files, and the meaning of its answers."""
