"""The one script that reads a FreeBSD host: sh only, no writes, values always with their names.

``sysctl -n`` of several names drops what is missing and shifts the rest, and ``-i`` hides what is
absent: so every name is asked for and a missing one answers with its complaint on stderr.
"""

from __future__ import annotations

import shlex

from hostcfg.platforms.bsd.commands import read_names
from hostcfg.platforms.framing import sh_section
from hostcfg.platforms.freebsd.native import PROBED

_NETSTAT = """\
hc_json=$(netstat -m --libxo json 2>/dev/null)
case $hc_json in
*mbuf-statistics*) printf '%s\\n' "$hc_json" ;;
*) netstat -m ;;
esac"""
"""libxo came with 11; before it the option is refused and the text is read."""

_FILES = """\
for hc_file in {paths}; do
  if [ -r "$hc_file" ] && [ -f "$hc_file" ]; then
    printf '==> %s <==\\n' "$hc_file"
    cat "$hc_file"
    echo
  elif [ -e "$hc_file" ]; then
    echo "cat: $hc_file: Permission denied" >&2
  fi
done"""

SYSCTL_FILES = ("/etc/sysctl.conf", "/etc/sysctl.conf.local")
"""What rc.d/sysctl reads, in its order; /etc/sysctl.d is not read (etc/rc.d/sysctl)."""
LOADER_FILES = "/boot/loader.conf /boot/loader.conf.d/*.conf /boot/loader.conf.local"
"""In the loader's order (stand/defaults/loader.conf)."""

_RC = """\
for hc_file in /etc/rc.conf /etc/rc.conf.local; do
  [ -r "$hc_file" ] && grep -h -E '^(kld_list|tcp_extensions)=' "$hc_file"
done
true"""


def probe_body(nonce: str, peer: str | None) -> str:
    """The sections of a FreeBSD host as POSIX sh text."""
    routes = ["route -n get default"]
    if peer is not None:
        routes.append(f"route -n get {shlex.quote(peer)}")
    sections = {
        "sysctl": read_names(PROBED),
        "netstat-m": _NETSTAT,
        "uname": "uname -a",
        "route-get": "\n".join(routes),
        "ifconfig": "ifconfig -a",
        "sysctl-conf": _FILES.format(paths=" ".join(SYSCTL_FILES)),
        "loader-conf": _FILES.format(paths=LOADER_FILES),
        "rc-conf": _RC,
        "kldstat": "kldstat",
    }
    return "".join(sh_section(nonce, kind, body) for kind, body in sections.items())
