"""What the BSD family shares: sysctl(8) text, sysctl.conf, mbuf statistics, socket-buffer limits.

No platform of its own: FreeBSD and macOS are built from these pieces, and the look-alikes
(NetBSD, OpenBSD, illumos, Junos ...) are recognised with them.
"""
