"""Inventories: which hosts there are, how each is reached, and the paths between them.

hostcfg's own YAML, Ansible's inventories as they are (INI, YAML, ``ansible-inventory --list``, with
group_vars and host_vars beside them), and plain lists of hosts.
"""

from hostcfg.inventory.hosts import Inventory
from hostcfg.inventory.load import load_inventory
from hostcfg.inventory.native import PathSpec

__all__ = ["Inventory", "PathSpec", "load_inventory"]
