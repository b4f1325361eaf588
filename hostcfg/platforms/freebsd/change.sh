# hostcfg on FreeBSD: how one key is read and written, and what the timer needs to know.
# KIND ARG: sysctl NAME

# hc_now=whole seconds since boot.  A step of the clock moves kern.boottime with it, so the difference stays.
hc_uptime() {
	hc_b=$(hc_boot)
	case $hc_b in '' | *[!0-9]*) hc_b=0 ;; esac
	hc_now=$(($(date +%s) - hc_b))
}

# The second of the boot: kern.boottime is "{ sec = 1732978123, usec = 123456 } Sat Nov 30 14:48:43 2024".
hc_boot() {
	hc_b=$(sysctl -n kern.boottime 2>/dev/null)
	hc_b=${hc_b#*sec = }
	printf '%s\n' "${hc_b%%,*}"
}

# A clock that is set moves the boot by a little; a boot moves it by more than the time it takes.
hc_rebooted() {
	hc_was=$(cat "$hc_dir/boot" 2>/dev/null)
	hc_b=$(hc_boot)
	case $hc_was in '' | *[!0-9]*) return 1 ;; esac
	case $hc_b in '' | *[!0-9]*) return 1 ;; esac
	hc_was=$((hc_b - hc_was))
	[ "${hc_was#-}" -gt 30 ]
}

hc_identity() {
	hc_i=$(sysctl -n kern.hostuuid 2>/dev/null)
	case $hc_i in '' | 00000000-0000-*) ;; *) printf 'hostuuid %s\n' "$hc_i" ;; esac
	hc_host_keys
}

# Where protect(1) is, the timer is not killed when swap runs out.
hc_protect() {
	command -v protect >/dev/null 2>&1 && protect -p "$$" >/dev/null 2>&1
}

# Whether process $1 is this change's timer.
hc_is_ours() {
	case $1 in '' | *[!0-9]*) return 1 ;; esac
	hc_cmd=$(ps -ww -o command= -p "$1" 2>/dev/null) || return 1
	case $hc_cmd in *"$hc_dir/restore timer"*) return 0 ;; esac
	return 1
}

# hc_value=what is there now.  1: there is no such key; 2: it can't be read.
hc_get() {
	hc_value=$(sysctl -n "$2" 2>/dev/null) && return 0
	hc_error=$(sysctl -n "$2" 2>&1 >/dev/null)
	hc_value=
	case $hc_error in *'unknown oid'*) return 1 ;; esac
	return 2
}

hc_match() {
	hc_same_text "$2" "$3"
}

# The old value stands on standard output even when the write was refused: only standard error counts.
hc_put() {
	hc_error=$(sysctl "$2=$3" 2>&1 >/dev/null)
	return 0
}

hc_can_restore() {
	return 0
}

# Nothing is lent for a moment here.
hc_mend() {
	return 0
}

# Whether a file has one of the flags of chflags(1) that no mode shows.
hc_fixed_file() {
	case $(ls -lod "$1" 2>/dev/null) in *[su]chg* | *[su]appnd*) return 0 ;; esac
	return 1
}

hc_mode() {
	return 0
}

hc_module_loaded() {
	kldstat 2>/dev/null | grep -q "[[:space:]]$1\.ko$"
}

# kldunload refuses a module that something uses, the default algorithm's for one: then it stays.
hc_module_unload() {
	kldunload "$1" >/dev/null 2>&1
}

# KIND ARG WANTED: a congestion control that is a module is loaded before it is chosen.
hc_load_for() {
	[ "$2" = net.inet.tcp.cc.algorithm ] || return 0
	hc_norm "$(sysctl -n net.inet.tcp.cc.available 2>/dev/null | tr ',' ' ')"
	case " $hc_norm " in *" $3 "*) return 0 ;; esac
	hc_said=$(kldload "cc_$3" 2>&1) || hc_say load "$hc_said"
	return 0
}

# daemon(8) gives it a session of its own, with nothing open.
hc_detach() {
	(hc_spawn)
	hc_timer_runs && hc_spawned
}

# The ports that TCP servers listen on.  Sample: tcp4  0  0 *.22  *.*  LISTEN
hc_listeners() {
	netstat -an -p tcp 2>/dev/null | sed -n 's/^tcp[46]* *[0-9]* *[0-9]* *[^ ]*\.\([0-9]*\) .*LISTEN.*/:\1/p'
}
