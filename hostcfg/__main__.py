"""``python -m hostcfg``."""

from hostcfg.cli import main

main()
