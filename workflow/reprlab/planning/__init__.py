"""The plan of a run: jobs, their files, and what a target needs. A paper's `plan.py` fills it."""
