"""What changing a host takes on Linux, FreeBSD and their relatives: scripts in ``/bin/sh``, and nothing else.

The ``.sh`` files are the code that runs on the host, as it stands here; Python adds names and
values, quoted.  What is true of one OS alone is in that OS's ``change.sh``.
"""
