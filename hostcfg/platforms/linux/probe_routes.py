"""The beginning of the probe, as sh text: its functions, and which interfaces matter.

It leaves ``hc_uname``, ``hc_ifs`` (names, parted by blanks), ``hc_routes`` and ``hc_peer_route`` for the
sections.
"""

from __future__ import annotations

# Functions and variables of the whole probe.  `set -f`: a host's word is never a file pattern;
# sections that want patterns switch them on again, in their own subshell.
PRELUDE = r"""
set -f
hc_has() { command -v "$1" >/dev/null 2>&1; }
hc_lines() {
  if hc_has grep; then grep -aH '' "$@" 2>/dev/null; return 0; fi
  for hc_f; do
    if [ ! -f "$hc_f" ] || [ ! -r "$hc_f" ]; then continue; fi
    while IFS= read -r hc_l || [ -n "$hc_l" ]; do printf '%s:%s\n' "$hc_f" "$hc_l"; done <"$hc_f"
  done 2>/dev/null
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
    if [ -e "/sys/class/net/$hc_l/device" ]; then hc_add "$hc_l"; continue; fi
    for hc_m in "/sys/class/net/$hc_l"/lower_*; do
      [ -e "$hc_m" ] && { hc_add "$hc_l"; break; }
    done
  done
  set -f
}
[ -n "${hc_uname-}" ] || hc_uname=$(uname -a 2>/dev/null) || {
  read -r _ _ hc_l _ </proc/version && hc_uname="Linux $hc_l"
}
hc_ifs=''
hc_count=0
hc_routes=''
hc_peer_route=''
"""

# The default routes.  Without `ip`, /proc/net/route has those of the main table, one next hop each.
ROUTES = r"""
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
PEER = r"""
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
INTERFACES = r"""
# shellcheck disable=SC2086 # routes are split into their words
set -- $hc_peer_route $hc_routes
while [ $# -gt 1 ]; do
  [ "$1" = dev ] && hc_add "$2"
  shift
done
for _ in 1 2 3; do
  for hc_if in $hc_ifs; do
    [ -d "/sys/class/net/$hc_if" ] && hc_under "$hc_if"
  done
done
"""
