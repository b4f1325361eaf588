"""Linux: probe, parsers, keys, boot files, findings and write commands."""
