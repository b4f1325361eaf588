#!/bin/sh
# Sets up and runs the tests.  Usage: sh tests/run.sh [pytest options]
# As root on Debian or Ubuntu it installs the packages that real parts need (see below); as a user,
# or where one is missing, the tests that need it are skipped and say so.
set -eu
cd "$(dirname "$0")/.."

packages="openssh-server openssh-client busybox iproute2 ethtool procps sudo opendoas csh shellcheck \
iputils-ping iperf3 util-linux bsdextrautils strace mksh yash ksh93u+m gcc libc6-dev"
# for tests marked browser; Ubuntu has it as a snap alone, and skips them
if grep -qx 'ID=debian' /etc/os-release 2>/dev/null; then packages="$packages chromium chromium-driver"; fi
case " $* " in
  *" -m lab "*) packages="$packages user-mode-linux" ;; # two kernels of its own
esac

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  missing=
  for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
  done
  if [ -n "$missing" ]; then
    printf 'tests: installing%s\n' "$missing" >&2
    apt-get update -qq >&2
    # shellcheck disable=SC2086  # a list of words
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
  fi
else
  printf 'tests: not root: tests that need root or a missing package are skipped\n' >&2
fi

case " $* " in
  # the tests of a file share what they started, and the longest files come first (conftest.py)
  *" -n "*) set -- --dist loadfile --no-loadscope-reorder "$@" ;;
esac
sh setup.sh test
exec "${HOSTCFG_VENV:-.venv}/bin/python" -m pytest "$@"
