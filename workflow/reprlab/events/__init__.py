"""Events in documents: mentions and their relations, as models read them, retrieve them and are scored on them."""
