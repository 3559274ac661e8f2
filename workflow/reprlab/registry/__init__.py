"""Registries of models and data: `config/models.yaml` and `config/datasets.yaml`."""
