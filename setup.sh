#!/bin/sh
# Makes .venv in this folder and installs hostcfg into it, for this checkout (editable).
# Usage: sh setup.sh [EXTRA]     EXTRA: an optional set of pyproject.toml, e.g. test
# Needs Python 3.11 or newer.  As root it installs Debian's python3-venv where that is missing.
set -eu
cd "$(dirname "$0")"
venv=${HOSTCFG_VENV:-.venv}

say() { printf 'setup: %s\n' "$*" >&2; }

python=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  say 'needs Python 3.11 or newer (Debian 12, Ubuntu 24.04 and later have it)'
  exit 2
fi

if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say 'installing python3-venv'
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
  else
    say 'needs python3-venv: ask root for "apt-get install python3-venv", then call this again'
    exit 2
  fi
fi

[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
wanted=".${1:+[$1]}"
stamp="$venv/.hostcfg-$(printf '%s' "$wanted" | tr -c 'a-z\n' '-')"
if [ ! -e "$stamp" ] || [ -n "$(find pyproject.toml -newer "$stamp")" ]; then
  say "installing hostcfg${1:+ with its optional sets $1} into $venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --editable "$wanted"
  : >"$stamp"
fi
