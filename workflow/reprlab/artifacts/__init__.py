"""The bytes of results: how tables and JSON are written and read. An edit here makes results again."""
