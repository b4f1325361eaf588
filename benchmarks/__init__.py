"""Programs that print ratios of measured things; ``python -m benchmarks.NAME``.  Never timed tests."""
