"""Music: tracks with known answers, what madmom hears in them, annotations, and models that describe a video."""
