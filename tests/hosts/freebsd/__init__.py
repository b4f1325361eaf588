"""An emulated FreeBSD for tests: a root directory of its own, served by a real OpenSSH server.

:class:`~tests.hosts.freebsd.host.FreeBsdHost` makes a folder with the directories, files and users of a
FreeBSD and enters it with ``pivot_root`` in private mount, process and host-name namespaces, so that
scripts use real absolute paths (/etc/sysctl.conf, /boot/loader.conf, /var/lib/hostcfg) and can touch
nothing of the machine that runs the tests.  It holds only programs that FreeBSD's base system has (no
/proc, no setsid, no stat); /bin/sh is dash.  ``sysctl``, ``netstat``, ``kldload`` and others are in
:mod:`tests.hosts.freebsd.programs`; they keep their state in files and answer as the recorded sessions
on 14.2 do, bad manners included.  Its port is served as inetd(8) would: each connection gets an ``sshd -i``
inside, and while the kernel could not make a socket it is reset instead.

Needs root (namespaces); nothing is left on the machine when the host is closed.
"""
