"""Settings of a chat model behind an endpoint: apart from the code that asks, for many stages read settings alone."""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

ADDRESS_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_ADDRESS = "https://api.openai.com/v1"


class ChatSettings(BaseModel):
    """A chat model and how it answers."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    model: str
    """Its name at the endpoint."""
    base_url: str | None = Field(default=None, validate_default=True)
    """Address of the endpoint; null: what OPENAI_BASE_URL names, else OpenAI's own."""
    temperature: float | None = Field(default=0.0, ge=0)
    """Temperature of sampling; null sends none, for models that take no other than their own."""
    max_tokens: int = Field(default=16, ge=1)
    """Longest answer in tokens."""
    length_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """What the endpoint calls the longest answer; newer models of OpenAI refuse max_tokens."""
    timeout: float = Field(default=300.0, gt=0)
    """Seconds that an answer may take, from the question to its last byte."""

    @field_validator("base_url")
    @classmethod
    def _the_one_that_is_meant(cls, base_url: str | None) -> str:
        # What the environment names is a setting from here on: it is in the key of a kept answer and of a planned job.
        address = (base_url or os.environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS).rstrip("/")
        try:
            parts = urlsplit(address)
        except ValueError:
            raise ValueError(f"base_url (or {ADDRESS_VARIABLE}): not an address") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"base_url (or {ADDRESS_VARIABLE}): an address begins with http:// or https://")
        refused = {
            "user name or password": "@" in parts.netloc,
            "query (behind ?)": "?" in address,
            "fragment (behind #)": "#" in address,
            "parameter (behind ;)": ";" in parts.path,
            "white space or control character": any(not one.isprintable() or one.isspace() for one in address),
        }
        for what, found in refused.items():
            if found:
                raise ValueError(
                    f"base_url (or {ADDRESS_VARIABLE}): it is recorded, so no {what} is part of it; a key belongs in "
                    "OPENAI_API_KEY"
                )
        return urlunsplit(parts)
