"""Read, compare, change and roll back the TCP settings of Linux, FreeBSD, Windows and macOS hosts."""

__version__ = "0.1.0"
