"""Transports against real shells, real OpenSSH servers and servers that misbehave."""
