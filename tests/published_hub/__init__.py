"""A hub on this machine that serves, for every repository that scale `paper` names, the published layout.

    with published_hub(folder) as hub:
        hub.write_registries(checkout / "config")
        run(..., environment=hub.environment)

The real clients run unpatched: they find the hub by HF_ENDPOINT.
"""

from tests.published_hub.hub import PublishedHub, published_hub

__all__ = ["PublishedHub", "published_hub"]
