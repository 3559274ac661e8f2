"""Facts known before anything runs: how many jobs, whether data, models and scorers will do, what a run needs."""
