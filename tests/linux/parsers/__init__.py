"""Parsers of Linux's outputs and files."""
