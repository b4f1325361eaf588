"""The journal: what was there before, what is being done, and what came of it, on the controller's disk.

One SQLite file in the user's state directory.  Whatever a host is about to lose is committed here,
synced to the disk, before the first write on that host; a process killed at any moment leaves a
journal that opens and says how far it came.
"""

from hostcfg.journal.store import Draft, Journal

__all__ = ["Draft", "Journal"]
