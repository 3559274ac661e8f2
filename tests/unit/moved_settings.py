def moved(schema, made, base, changes, still):
    """Check that all settings of `schema` are named, that each of `changes` moves what `made` returns and is alone in
    it, and that each of `still` does not."""
    assert {*changes, *still} == set(schema.model_fields), "a setting has no change in this test"
    first = made(base)
    assert made(base) == first, "the same settings give the same"
    for name, value in changes.items():
        assert made({**base, name: value}) != first, f"{name} moves nothing"
    for name, value in still.items():
        assert made({**base, name: value}) == first, f"{name} moves something"
    return first
