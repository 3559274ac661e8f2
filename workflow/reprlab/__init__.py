"""Library behind the reprlab workflow. It knows nothing of Snakemake."""
