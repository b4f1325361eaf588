"""The probe: one POSIX sh script that reads everything and writes nothing.

It runs under dash, bash and busybox ash, and reads /proc and /sys by itself wherever a tool
(sysctl, tc, ip, ethtool, grep, awk) may be missing; what only a tool can tell is absent without it.
A value is never read with the shell's ``read``: dash and ash read a byte at a time, and a sysctl
file answers only its first read (``proc_dointvec`` in kernel/sysctl.c), so ``212992`` would be ``2``.

The sections that no person pastes have kinds of their own: ``linux-host`` (marks and small files),
``linux-net-class`` (/sys/class/net), ``linux-conf`` (every sysctl file), ``linux-modes`` (which keys
can't be written) and ``linux-peer-route``.
"""

from __future__ import annotations

import ipaddress
import shlex
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.lean import regex
from hostcfg.platforms.framing import sh_section
from hostcfg.platforms.linux.probe_routes import INTERFACES, PEER, PRELUDE, ROUTES

if TYPE_CHECKING:
    from hostcfg.platforms.base import ProbeRequest

CONF_LIMIT_LINES = 4000
"""Lines read of one sysctl file; a longer one is reported as cut."""

CONF_LIMIT_FILES = 250
"""Sysctl files looked at; a system as it comes has about ten."""

_NAME = regex(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})")

_UNAME = "printf '%s\\n' \"$hc_uname\""

WRITERS = ("tuned", "bpftune", "ktune", "salt-minion", "puppet", "puppet-agent", "chef-client", "cf-execd")
"""Programs that set sysctls while they run, as /proc/PID/comm has them."""

# Marks that a `[` can see, as "=WORD VALUE" lines, then small files as "PATH:LINE".  Last, the
# queueing disciplines that the kernel has or can load: default_qdisc takes no other name.
_HOST = r"""
set +f
[ -n "${container-}" ] && printf '=container %s\n' "$container"
for hc_f in /run/systemd/system /run/openrc /run/runit /.dockerenv /run/.containerenv /proc/vz /proc/bc \
  /etc/alpine-release /etc/openwrt_release /run/tuned/tuned.pid /dev/lxd/sock; do
  [ -e "$hc_f" ] && printf '=exists %s\n' "$hc_f"
done
for hc_d in /usr/lib/systemd /lib/systemd /usr/lib64/systemd /usr/lib*/*-linux-*/systemd; do
  [ -d "$hc_d" ] || continue
  for hc_f in "$hc_d"/libsystemd-shared-*.so; do
    [ -e "$hc_f" ] && { hc_f=${hc_f##*-}; printf '=systemd %s\n' "${hc_f%.so}"; break 2; }
  done
done
for hc_f in /usr/lib/systemd/systemd-sysctl /lib/systemd/systemd-sysctl; do
  [ -x "$hc_f" ] && { printf '=systemd-sysctl %s\n' "$hc_f"; break; }
done
for hc_f in /etc/systemd/system/systemd-sysctl.service /run/systemd/system/systemd-sysctl.service; do
  [ -L "$hc_f" ] && [ -c "$hc_f" ] && printf '=masked %s\n' "$hc_f"
done
for hc_f in /usr/sbin/sysctl /sbin/sysctl /usr/bin/sysctl /bin/sysctl; do
  [ -x "$hc_f" ] || continue
  hc_v=$("$hc_f" --version 2>&1)
  case "$hc_v" in *BusyBox*) hc_v=BusyBox${hc_v#*BusyBox} ;; esac
  printf '=sysctl %s\n' "${hc_v%%"
"*}"
  break
done
for hc_f in tc ip ethtool; do hc_has "$hc_f" && printf '=tool %s\n' "$hc_f"; done
set -- /etc/os-release
[ -r /etc/os-release ] || set -- /usr/lib/os-release
hc_lines "$@" /etc/openwrt_release /etc/machine-id /var/lib/dbus/machine-id /proc/1/comm \
  /proc/self/cgroup /proc/self/uid_map /run/systemd/container /sys/fs/cgroup/memory.max \
  /sys/fs/cgroup/memory/memory.limit_in_bytes /etc/tuned/active_profile /etc/ufw/ufw.conf
if hc_has grep; then
  grep -aHE '^(MemTotal|Uid|CapEff):| /proc(/sys(/net)?)? |^(@WRITERS@)$' /proc/meminfo /proc/self/status \
    /proc/self/mountinfo /proc/[0-9]*/comm
  set --
  for hc_f in /etc/rc.local /etc/rc.d/rc.local /etc/local.d/*.start /etc/network/interfaces \
    /etc/network/interfaces.d/*; do
    [ -f "$hc_f" ] && set -- "$@" "$hc_f"
  done
  [ $# = 0 ] || grep -anHE 'sysctl|/proc/sys/net|txqueuelen|tc +qdisc' "$@"
else
  hc_lines /proc/meminfo /proc/self/status /proc/self/mountinfo
fi 2>/dev/null
case "$hc_uname " in
*' x86_64 '* | *' i'[3-6]'86 '*) hc_v=4096 ;; # PAGE_SHIFT in arch/x86/include/asm/page_types.h
*) hc_v=$(getconf PAGESIZE 2>/dev/null) ;;
esac
printf '=page_bytes %s\n' "$hc_v"
read -r _ _ hc_v _ </proc/version
hc_d=/lib/modules/$hc_v
if [ -d "$hc_d" ]; then
  for hc_f in "$hc_d"/kernel/net/sched/sch_*.ko* "$hc_d"/sch_*.ko*; do
    [ -e "$hc_f" ] && { hc_f=${hc_f##*/sch_}; printf '=qdisc %s\n' "${hc_f%%.ko*}"; }
  done
  hc_has grep && grep -aH /sch_ "$hc_d/modules.builtin" 2>/dev/null
elif [ ! -e /proc/modules ] && hc_has grep; then
  { gzip -dc /proc/config.gz || zcat /proc/config.gz; } 2>/dev/null | grep -a '^CONFIG_NET_SCH_.*=y'
fi
exit 0
"""

# The patterns leave out tcp_fastopen_key and netdev_rss_key: secrets, and no settings.
_KEY_FILES = r"""
set +f
set -- /proc/sys/net/core/[!n]* /proc/sys/net/core/netdev_[!r]* /proc/sys/net/ipv4/tcp_[!f]* \
  /proc/sys/net/ipv4/tcp_f[!a]* /proc/sys/net/ipv4/tcp_fa[!s]* /proc/sys/net/ipv4/tcp_fastopen \
  /proc/sys/net/ipv4/tcp_fastopen_b* /proc/sys/net/ipv4/udp_*mem* /proc/sys/net/ipv4/ip_no_pmtu_disc \
  /proc/sys/net/ipv4/ip_local_port_range
"""

# Keys that not even root may write have no "w" in their mode: what is only told, and in a child
# namespace what belongs to the whole kernel.  `[ -w ]` is no help: busybox's says yes to root.
_MODES = (
    _KEY_FILES
    + r"""
hc_v=$(ls -ln "$@" 2>/dev/null)
set -f
IFS='
'
for hc_l in $hc_v; do
  case "${hc_l%% *}" in -*w*) ;; *) printf '%s\n' "$hc_l" ;; esac
done
exit 0
"""
)

_PROC_SYS = (
    _KEY_FILES
    + r"""
if hc_has grep; then grep -aH '' "$@"; exit $?; fi
for hc_t in cat 'sed -n p' 'awk 1' 'head -n 99' 'tail -n 99'; do
  hc_has "${hc_t%% *}" || continue
  for hc_f; do
    [ -e "$hc_f" ] || continue
    # shellcheck disable=SC2086 # a tool and its options
    hc_v=$($hc_t "$hc_f") && printf '%s:%s\n' "$hc_f" "$hc_v"
  done
  exit 0
done
echo 'hostcfg: nothing here reads a file: no grep, cat, sed, awk, head or tail' >&2
exit 97
"""
)

_NET_CLASS = r"""
set --
for hc_if in $hc_ifs; do
  hc_d=/sys/class/net/$hc_if
  [ -d "$hc_d" ] && set -- "$@" "$hc_d/ifindex" "$hc_d/mtu" "$hc_d/tx_queue_len" "$hc_d/speed" \
    "$hc_d/uevent" "$hc_d/device/uevent"
done
[ $# = 0 ] || hc_lines "$@"
exit 0
"""

_IP_LINK = """for hc_if in $hc_ifs; do ip link show dev "$hc_if"; done"""

# "F FLAGS PATH" for each file (l link, n device, e empty, u unreadable), then where the links
# lead, then "PATH:NUMBER:LINE" of all files; comments stay at home, but for those that busybox
# continues on the next line.
_CONF = r"""
set +f
hc_i=0
hc_list() {
  for hc_f; do
    [ -e "$hc_f" ] || [ -L "$hc_f" ] || continue
    case "$hc_f" in */. | */.. | *[[:cntrl:]]*) continue ;; esac
    [ "$hc_i" -lt @FILES@ ] || { printf '=more\n'; return 0; }
    hc_i=$((hc_i + 1))
    hc_fl=''
    [ -L "$hc_f" ] && { hc_fl=l; hc_links="$hc_links$hc_f
"; }
    if [ ! -f "$hc_f" ]; then hc_fl=n$hc_fl
    elif [ ! -s "$hc_f" ]; then hc_fl=e$hc_fl
    elif [ ! -r "$hc_f" ]; then hc_fl=u$hc_fl
    else hc_texts="$hc_texts$hc_f
"; fi
    printf 'F %s %s\n' "${hc_fl:--}" "$hc_f"
  done
}
hc_links='' hc_texts=''
hc_list /etc/sysctl.conf /etc/sysctl.d/*.conf /etc/sysctl.d/.*.conf /run/sysctl.d/*.conf \
  /run/sysctl.d/.*.conf /usr/local/lib/sysctl.d/*.conf /usr/local/lib/sysctl.d/.*.conf \
  /usr/lib/sysctl.d/*.conf /usr/lib/sysctl.d/.*.conf
[ -L /lib ] || hc_list /lib/sysctl.d/*.conf /lib/sysctl.d/.*.conf
[ -e /etc/ufw/ufw.conf ] && hc_list /etc/ufw/sysctl.conf
set -f
IFS='
'
# shellcheck disable=SC2086 # one path a line
[ -z "$hc_links" ] || ls -ld $hc_links
[ -n "$hc_texts" ] || exit 0
# shellcheck disable=SC2086
set -- $hc_texts
if hc_has grep; then grep -anHE -m @LINES@ '^[[:space:]]*[^#;[:space:]]|\\$' "$@"; exit 0; fi
for hc_f; do
  hc_i=0
  while { IFS= read -r hc_l || [ -n "$hc_l" ]; } && [ "$hc_i" -lt @LINES@ ]; do
    hc_i=$((hc_i + 1))
    printf '%s:%s:%s\n' "$hc_f" "$hc_i" "$hc_l"
  done <"$hc_f"
done
exit 0
"""


def probe_body(request: ProbeRequest) -> str:
    """The probe as sh text, to stand inside any script; UsageError if the peer is no address or name."""
    nonce = request.nonce
    routes = ROUTES
    if request.peer is not None:
        routes += f"hc_peer={shlex.quote(checked_peer(request.peer))}\n{PEER}"
    conf = _CONF.replace("@FILES@", str(CONF_LIMIT_FILES)).replace("@LINES@", str(CONF_LIMIT_LINES))
    parts = [
        PRELUDE,
        routes,
        INTERFACES,
        sh_section(nonce, "uname", _UNAME),
        sh_section(nonce, "linux-host", _HOST.replace("@WRITERS@", "|".join(WRITERS))),
        sh_section(nonce, "proc-sys", _PROC_SYS),
        sh_section(nonce, "linux-modes", _MODES),
        sh_section(nonce, "ip-route", "printf '%s\\n' \"$hc_routes\""),
        sh_section(nonce, "linux-net-class", _NET_CLASS),
        sh_section(nonce, "linux-conf", conf),
        _if_tool("tc", sh_section(nonce, "tc-qdisc", "tc qdisc show")),
        _if_tool("ip", sh_section(nonce, "ip-link", _IP_LINK)),
        _if_tool("ethtool", _per_interface(sh_section(nonce, "ethtool-k", 'ethtool -k "$hc_if"'))),
    ]
    if request.peer is not None:
        parts.insert(-3, sh_section(nonce, "linux-peer-route", "printf '%s\\n' \"$hc_peer_route\""))
    return "\n".join(parts)


def checked_peer(peer: str) -> str:
    """``peer`` if it is an IP address or a host name (RFC 1123); UsageError for anything else."""
    try:
        return str(ipaddress.ip_address(peer.partition("%")[0]))
    except ValueError:
        if _NAME.fullmatch(peer):
            return peer
    raise UsageError(f"the peer {peer[:60]!r} is neither an IP address nor a host name")


def _if_tool(tool: str, section: str) -> str:
    return f"if hc_has {tool}; then\n{section}fi\n"


def _per_interface(section: str) -> str:
    return f"for hc_if in $hc_ifs; do\n{section}done\n"
