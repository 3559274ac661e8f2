"""Sound: decoding, resampling, features of speech, batches by length, recognisers."""
