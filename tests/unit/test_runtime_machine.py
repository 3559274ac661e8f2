"""What `auto` arithmetic is on a machine."""

from pathlib import Path

import pytest
from reprlab.runtime import machine


@pytest.mark.parametrize(
    ("flags", "highest", "products"),
    [
        ("fpu avx512f amx_bf16", "", True),
        ("fpu avx512f avx512_bf16", "", True),
        ("fpu avx512f avx512_bf16", "avx512_core_bf16", True),
        ("fpu avx512f avx512_bf16 amx_bf16", "AVX512_CORE", False),
        ("fpu avx512f", "", False),
        (None, "", False),
    ],
)
def test_bfloat16_is_taken_where_the_processor_multiplies_it(
    monkeypatch: pytest.MonkeyPatch, flags: str | None, highest: str, products: bool
) -> None:
    def read(_: Path, **__: str) -> str:
        if flags is None:
            raise FileNotFoundError
        return f"flags\t\t: {flags}\n"

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", highest or "DEFAULT")
    machine.has_bfloat16_products.cache_clear()
    try:
        assert machine.has_bfloat16_products() is products
    finally:
        machine.has_bfloat16_products.cache_clear()
