"""The programs that run inside an emulated FreeBSD.

Each call starts an interpreter, so they import little: no pathlib, no re, no json.
"""
