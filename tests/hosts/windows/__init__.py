"""An emulated Windows host for tests: cmd.exe, PowerShell and netsh as far as hostcfg asks them.

State is one JSON file (``releases.new_state`` makes one), so that several connections see each
other's writes.  It behaves badly on purpose where real systems do: bytes in the console's code
page, errors on standard output, usage with exit status 0, sets that say "Ok." and change nothing.
"""
