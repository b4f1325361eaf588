# hostcfg: what every script on the host shares.  POSIX sh: dash, ash, FreeBSD sh, bash, mksh.
# An empty file is made by `true >FILE`: where `:`, a special builtin, can't be redirected, the shell ends.
# Set before this text: hc_id hc_base hc_revert hc_nonce.  Defined before it: hc_each FUNC,
# hc_each_back FUNC (steps in and against the plan's order), hc_each_file FUNC (N PATH), and the OS's part.

PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin
LC_ALL=C
export PATH LC_ALL
umask 077
hc_nl='
'
hc_tab='	'
IFS=" $hc_tab$hc_nl" # no process is needed for it: a timer may have to begin where there is none to be had
hc_dir=$hc_base/$hc_id

# One framed section on standard output: KIND TEXT [STATUS].
hc_say() {
	printf '\n@@hostcfg %s begin %s\n%s\n@@hostcfg %s end %s %s\n' \
		"$hc_nonce" "$1" "$2" "$hc_nonce" "$1" "${3:-0}"
}

hc_done() {
	printf '\n@@hostcfg %s done\n' "$hc_nonce"
}

# hc_norm=TEXT with every run of white space as one blank: how values are compared here.
hc_norm() {
	set -f
	# shellcheck disable=SC2086 # the splitting is what it is for
	set -- $1
	hc_norm=$*
	set +f
}

# Whether two values are the same but for white space.
hc_same_text() {
	hc_norm "$1"
	hc_same_a=$hc_norm
	hc_norm "$2"
	[ "$hc_same_a" = "$hc_norm" ]
}

# hc_state=the state of the change in directory $1, or gone.  A state is the name of a file, so
# that rename(2) decides between two who want to change it.  Looked for in the order in which states
# follow each other, and again, since one may be renamed while we look.
hc_read_state() {
	for hc_try in 1 2 3; do
		for hc_state in preparing pending confirming confirmed restoring restored failed; do
			[ -e "$1/state.$hc_state" ] && return 0
		done
	done
	hc_state=gone
	return 1
}

# state FROM -> TO; only one of several callers succeeds.
hc_move() {
	mv -f "$hc_dir/state.$1" "$hc_dir/state.$2" 2>/dev/null
}

# To the disk: the named files where sync(1) can, else everything.
hc_sync() {
	sync "$@" 2>/dev/null || sync
}

# Whether the host was booted since the change began.
hc_rebooted() {
	hc_was=$(cat "$hc_dir/boot" 2>/dev/null)
	hc_b=$(hc_boot)
	[ -n "$hc_was" ] && [ -n "$hc_b" ] && [ "$hc_was" != "$hc_b" ]
}

# Whether two files hold the same bytes.
hc_same_file() {
	if command -v cmp >/dev/null 2>&1; then
		cmp -s "$1" "$2"
	else
		[ -e "$1" ] && [ -e "$2" ] && [ "$(cat "$1"; echo .)" = "$(cat "$2"; echo .)" ]
	fi
}

# Public parts of the SSH host keys: with the machine's own id, what it is known by.
hc_host_keys() {
	for hc_i in ed25519 ecdsa rsa; do
		hc_f=/etc/ssh/ssh_host_${hc_i}_key.pub
		[ -r "$hc_f" ] && read -r hc_w hc_key hc_rest <"$hc_f" && printf 'host-key-%s %s\n' "$hc_i" "$hc_key"
	done
	return 0
}

# hc_lock_n=the newest lock's number (0: none), hc_lock_id=the change that holds it.
# Locks are numbered and never taken away while they count: the newest one holds the host, and
# whether it still holds is the state of its change.  So there is no stale lock to steal.
hc_find_lock() {
	hc_lock_n=0
	hc_lock_id=
	for hc_f in "$hc_base"/lock.*; do
		hc_k=${hc_f##*/lock.}
		# only what is written here: 08 is no number to a shell, and more digits may be too many for it
		case $hc_k in '' | 0* | *[!0-9]* | ??????????*) continue ;; esac
		[ "$hc_k" -gt "$hc_lock_n" ] && hc_lock_n=$hc_k
	done
	[ "$hc_lock_n" -gt 0 ] || return 0
	IFS= read -r hc_lock_id <"$hc_base/lock.$hc_lock_n" || return 0
}

# hc_left=seconds until the timer fires, empty where there is none; hc_timer=alive, dead or none.
hc_time_left() {
	hc_left=
	hc_timer=none
	[ "$hc_revert" -gt 0 ] || return 0
	hc_timer=dead
	hc_pid=
	IFS= read -r hc_pid 2>/dev/null <"$hc_dir/timer.pid" || return 0
	hc_is_ours "$hc_pid" || return 0
	hc_timer=alive
	hc_deadline=
	IFS= read -r hc_deadline 2>/dev/null <"$hc_dir/deadline" || return 0
	hc_uptime
	hc_left=$((hc_deadline - hc_now))
	[ "$hc_left" -ge 0 ] || hc_left=0
}

# Ends the timer, in a state in which it has nothing to do any more: it would end by itself within a second.
hc_stop_timer() {
	hc_time_left
	[ "$hc_timer" = alive ] || return 0
	if [ -e "$hc_dir/timer.unit" ] && systemctl stop "hostcfg-$hc_id.service" >/dev/null 2>&1; then
		return 0
	fi
	kill -9 "$hc_pid" 2>/dev/null
	return 0
}

# Starts "$hc_dir/restore timer" in the background: in a session of its own, with nothing of the connection open.
hc_spawn() {
	exec </dev/null >>"$hc_dir/timer.log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
	if command -v setsid >/dev/null 2>&1; then
		setsid /bin/sh "$hc_dir/restore" timer &
	elif command -v daemon >/dev/null 2>&1; then
		daemon -f /bin/sh "$hc_dir/restore" timer &
	elif command -v start-stop-daemon >/dev/null 2>&1; then
		start-stop-daemon -S -b -x /bin/sh -- "$hc_dir/restore" timer &
	else
		/bin/sh "$hc_dir/restore" timer &
	fi
}

# Prints which of them it was.
hc_spawned() {
	for hc_c in setsid daemon start-stop-daemon; do
		command -v "$hc_c" >/dev/null 2>&1 && printf '%s' "$hc_c" && return 0
	done
	printf sh
}

# Waits up to 5 s for the timer's own word that it runs, and looks at the process.
hc_timer_runs() {
	for hc_wait in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		hc_time_left
		[ "$hc_timer" = alive ] && return 0
		sleep 0.2 2>/dev/null || sleep 1
	done
	return 1
}
