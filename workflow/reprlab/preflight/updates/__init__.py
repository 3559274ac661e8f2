"""Updates of published sizes with drawn weights, timed where a GPU is."""
