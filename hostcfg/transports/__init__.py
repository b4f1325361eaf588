"""Ways to a host: this machine, SSH, and files."""
