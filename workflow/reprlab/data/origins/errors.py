"""The reason why an origin did not deliver."""


class OriginError(Exception):
    """One origin failed; the next one is tried. The message is the reason alone."""
