"""The probe: one POSIX sh script that reads everything and writes nothing.

It runs under dash, bash and busybox ash, and reads /proc and /sys by itself wherever a tool
(sysctl, tc, ip, ethtool, grep, awk) may be missing; what only a tool can tell is absent without it.
A value is never read with the shell's ``read``: dash and ash read a byte at a time, and a sysctl
file answers only its first read (``proc_dointvec`` in kernel/sysctl.c), so ``212992`` would be ``2``.

The sections that no person pastes have kinds of their own: ``linux-host`` (marks and small files),
``linux-net-class`` (/sys/class/net), ``linux-conf`` (every sysctl file) and ``linux-peer-route``.
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from typing import TYPE_CHECKING

from hostcfg.errors import UsageError
from hostcfg.platforms.framing import sh_section

if TYPE_CHECKING:
    from hostcfg.platforms.base import ProbeRequest

CONF_LIMIT_LINES = 4000
"""Lines read of one sysctl file; a longer one is reported as cut."""

CONF_LIMIT_FILES = 250
"""Sysctl files looked at; a system as it comes has about ten."""

_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,252})")

# Functions and variables of the whole probe.  `set -f`: a host's word is never a file pattern;
# sections that want patterns switch them on again, in their own subshell.
_PRELUDE = r"""
set -f
hc_has() { command -v "$1" >/dev/null 2>&1; }
hc_lines() {
  if hc_has grep; then grep -aH '' "$@" 2>/dev/null; return 0; fi
  for hc_f; do
    if [ ! -f "$hc_f" ] || [ ! -r "$hc_f" ]; then continue; fi
    while IFS= read -r hc_l || [ -n "$hc_l" ]; do printf '%s:%s\n' "$hc_f" "$hc_l"; done <"$hc_f"
  done 2>/dev/null
}
hc_after_dev() {
  while read -r hc_l; do
    # shellcheck disable=SC2086 # a route is split into its words
    set -- $hc_l
    while [ $# -gt 1 ]; do [ "$1" = dev ] && printf '%s\n' "$2"; shift; done
  done
}
hc_add() {
  for hc_n; do
    case "$hc_n" in lo | . | .. | */*) continue ;; esac
    case " $hc_ifs " in *" $hc_n "*) continue ;; esac
    [ "$hc_count" -lt 16 ] || return 0
    hc_ifs="$hc_ifs $hc_n"
    hc_count=$((hc_count + 1))
  done
}
hc_under() {
  set +f
  for hc_l in "/sys/class/net/$1"/lower_*; do
    hc_l=${hc_l##*/lower_}
    if [ -e "/sys/class/net/$hc_l/device" ]; then printf '%s\n' "$hc_l"; continue; fi
    for hc_m in "/sys/class/net/$hc_l"/lower_*; do
      [ -e "$hc_m" ] && { printf '%s\n' "$hc_l"; break; }
    done
  done
}
hc_ifs=''
hc_count=0
hc_routes=''
hc_peer_route=''
"""

# The default routes.  Without `ip`, /proc/net/route has those of the main table, one next hop each.
_ROUTES = r"""
if hc_has ip; then
  hc_routes=$(ip -4 route show default 2>/dev/null; ip -6 route show default 2>/dev/null)
else
  hc_routes=$(
    hc_i=0
    while [ "$hc_i" -lt 500 ] && read -r hc_d hc_dst _ _ _ _ hc_metric hc_mask _; do
      hc_i=$((hc_i + 1))
      [ "$hc_dst$hc_mask" = 0000000000000000 ] && printf 'default dev %s metric %s\n' "$hc_d" "$hc_metric"
    done </proc/net/route
    hc_i=0
    while [ "$hc_i" -lt 500 ] && read -r hc_dst hc_len _ _ _ _ _ _ _ hc_d; do
      hc_i=$((hc_i + 1))
      case "$hc_dst$hc_len" in
      *[!0]*) ;;
      *) [ "$hc_d" = lo ] || printf 'default dev %s\n' "$hc_d" ;;
      esac
    done </proc/net/ipv6_route
  ) 2>/dev/null
fi
"""

# The route to the peer.  A name is resolved here, on the host, for its view is what counts; never
# without a time limit, for a dead resolver must not hold up the probe.
_PEER = r"""
hc_addr=$hc_peer
case "$hc_peer" in
*:* | *[!0-9.]*)
  case "$hc_peer" in
  *:*) ;;
  *)
    hc_addr=''
    if hc_has getent && hc_has timeout; then
      hc_addr=$(timeout 3 getent ahosts "$hc_peer" 2>/dev/null | { read -r hc_l _ && printf '%s' "$hc_l"; })
    fi
    ;;
  esac
  ;;
esac
if [ -n "$hc_addr" ] && hc_has ip; then
  case "$hc_addr" in
  *:*) hc_peer_route=$(ip -6 route get "$hc_addr" 2>/dev/null) ;;
  *) hc_peer_route=$(ip -4 route get "$hc_addr" 2>/dev/null) ;;
  esac
fi
"""

# The interfaces under them: the ports of a bond, the device of a VLAN, the uplink of a bridge.
_INTERFACES = r"""
# shellcheck disable=SC2046 # one name a word: names of interfaces hold no blanks
hc_add $(printf '%s\n' "$hc_peer_route" "$hc_routes" | hc_after_dev)
for _ in 1 2 3; do
  for hc_if in $hc_ifs; do
    # shellcheck disable=SC2046
    [ -d "/sys/class/net/$hc_if" ] && hc_add $(hc_under "$hc_if")
  done
done
"""

_UNAME = "uname -a 2>/dev/null || { read -r _ _ hc_l _ </proc/version && printf 'Linux %s\\n' \"$hc_l\"; }"

# Marks that a `[` can see, as "=WORD VALUE" lines, then small files as "PATH:LINE".  Last, the
# queueing disciplines that the kernel has or can load: default_qdisc takes no other name.
_HOST = r"""
set +f
[ -n "${container-}" ] && printf '=container %s\n' "$container"
for hc_f in /run/systemd/system /run/openrc /run/runit /.dockerenv /run/.containerenv /proc/vz /proc/bc \
  /etc/alpine-release /etc/openwrt_release /run/tuned/tuned.pid /dev/lxd/sock; do
  [ -e "$hc_f" ] && printf '=exists %s\n' "$hc_f"
done
for hc_f in /usr/lib/systemd/libsystemd-shared-*.so /lib/systemd/libsystemd-shared-*.so \
  /usr/lib*/*/systemd/libsystemd-shared-*.so /usr/lib64/systemd/libsystemd-shared-*.so; do
  [ -e "$hc_f" ] && { hc_f=${hc_f##*-}; printf '=systemd %s\n' "${hc_f%.so}"; break; }
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
  grep -aHE '^(MemTotal|Uid|CapEff):| /proc(/sys(/net)?)? ' /proc/meminfo /proc/self/status \
    /proc/self/mountinfo
  grep -aHxE 'tuned|bpftune|ktune|salt-minion|puppet|puppet-agent|chef-client|cf-execd' /proc/[0-9]*/comm
  grep -anHE 'sysctl|/proc/sys/net|txqueuelen|tc +qdisc' /etc/rc.local /etc/rc.d/rc.local \
    /etc/local.d/*.start /etc/network/interfaces /etc/network/interfaces.d/*
else
  hc_lines /proc/meminfo /proc/self/status /proc/self/mountinfo
fi 2>/dev/null
printf '=page_bytes %s\n' "$(getconf PAGESIZE 2>/dev/null)"
read -r _ _ hc_v _ </proc/version
hc_d=/lib/modules/$hc_v
if [ -d "$hc_d" ]; then
  for hc_f in "$hc_d"/kernel/net/sched/sch_*.ko* "$hc_d"/sch_*.ko*; do
    [ -e "$hc_f" ] && { hc_f=${hc_f##*/sch_}; printf '=qdisc %s\n' "${hc_f%%.ko*}"; }
  done
  hc_has grep && grep -aH /sch_ "$hc_d/modules.builtin" 2>/dev/null
elif [ ! -e /proc/modules ] && hc_has grep; then
  { zcat /proc/config.gz || gzip -dc /proc/config.gz; } 2>/dev/null | grep -a '^CONFIG_NET_SCH_.*=y'
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

# Keys that not even root may write: a namespace's view of a global one, or a read-only /proc/sys.
_FIXED = (
    _KEY_FILES
    + r"""
[ -w /proc/sys/net/ipv4/tcp_no_metrics_save ] || [ "$(id -u)" = 0 ] || exit 0
for hc_f; do [ ! -f "$hc_f" ] || [ -w "$hc_f" ] || printf '%s\n' "$hc_f"; done
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
for hc_if in $hc_ifs; do
  hc_d=/sys/class/net/$hc_if
  [ -d "$hc_d" ] && hc_lines "$hc_d/ifindex" "$hc_d/mtu" "$hc_d/tx_queue_len" "$hc_d/speed" \
    "$hc_d/device/uevent"
done
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
    routes = _ROUTES
    if request.peer is not None:
        routes += f"hc_peer={shlex.quote(checked_peer(request.peer))}\n{_PEER}"
    conf = _CONF.replace("@FILES@", str(CONF_LIMIT_FILES)).replace("@LINES@", str(CONF_LIMIT_LINES))
    parts = [
        _PRELUDE,
        routes,
        _INTERFACES,
        sh_section(nonce, "uname", _UNAME),
        sh_section(nonce, "linux-host", _HOST),
        sh_section(nonce, "proc-sys", _PROC_SYS),
        sh_section(nonce, "linux-fixed", _FIXED),
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
