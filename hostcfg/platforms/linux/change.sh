# hostcfg on Linux: how one key is read and written, and what the timer needs to know.
# KIND ARG: sysctl PATH | qdisc INTERFACE | txqueuelen INTERFACE | tso INTERFACE

# hc_now=whole seconds since boot: no clock jump moves it.
hc_uptime() {
	read -r hc_now hc_rest </proc/uptime
	hc_now=${hc_now%%.*}
}

hc_boot() {
	cat /proc/sys/kernel/random/boot_id 2>/dev/null
}

hc_identity() {
	hc_i=$(cat /etc/machine-id 2>/dev/null) && [ -n "$hc_i" ] && printf 'machine-id %s\n' "$hc_i"
	hc_i=$(cat /sys/class/dmi/id/product_uuid 2>/dev/null) && [ -n "$hc_i" ] && printf 'dmi %s\n' "$hc_i"
	hc_host_keys
}

# The timer is the last process to be killed when memory runs out.
hc_protect() {
	[ -w /proc/self/oom_score_adj ] && printf '%s\n' -1000 >/proc/self/oom_score_adj
} 2>/dev/null

# Whether process $1 is this change's timer.
hc_is_ours() {
	case $1 in '' | *[!0-9]*) return 1 ;; esac
	hc_cmd=$(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline") || return 1
	case $hc_cmd in *"$hc_dir/restore timer"*) return 0 ;; esac
	return 1
}

# hc_value=what is there now.  1: there is no such key; 2: it can't be read.
hc_get() {
	hc_value=
	case $1 in
	sysctl)
		hc_value=$(cat "$2" 2>/dev/null) && return 0
		[ -e "$2" ] || return 1
		return 2
		;;
	qdisc)
		[ -d "/sys/class/net/$2" ] || [ -n "$(ip link show dev "$2" 2>/dev/null)" ] || return 1
		hc_value=$(tc qdisc show dev "$2" 2>/dev/null) || return 2
		# refcnt counts queues in use; the rest is what was set
		hc_value=$(printf '%s\n' "$hc_value" | sed -e 's/ refcnt [0-9]*//' -e 's/ *$//')
		[ -n "$hc_value" ] || return 2
		;;
	txqueuelen)
		hc_value=$(cat "/sys/class/net/$2/tx_queue_len" 2>/dev/null) && return 0
		hc_norm "$(ip -o link show dev "$2" 2>/dev/null)"
		case $hc_norm in
		*' qlen '*)
			hc_value=${hc_norm##* qlen }
			hc_value=${hc_value%%[!0-9]*}
			;;
		*) [ -z "$hc_norm" ] && [ ! -d "/sys/class/net/$2" ] && return 1 || return 2 ;;
		esac
		;;
	tso)
		hc_value=$(ethtool -k "$2" 2>/dev/null | sed -n 's/^tcp-segmentation-offload: *//p')
		[ -n "$hc_value" ] || return 2
		;;
	esac
	return 0
}

# Whether VALUE is what WANTED means.  A queueing discipline may be wanted by its name alone.
hc_match() {
	if [ "$1" = qdisc ]; then
		case $3 in 'qdisc '*) ;; *)
			[ "$(hc_qdisc_name "$2")" = "$3" ]
			return
			;;
		esac
	fi
	hc_same_text "$2" "$3"
}

# The name that counts in the output of `tc qdisc show dev X`: the root's, or with a queue for each CPU
# (mq) the one that all the queues have.
hc_qdisc_name() {
	printf '%s\n' "$1" | {
		hc_root=
		hc_below=
		while read -r hc_w hc_q hc_rest; do
			[ "$hc_w" = qdisc ] || continue
			case $hc_rest in
			*': root'*) hc_root=$hc_q ;;
			*': parent'*)
				case $hc_q in clsact | ingress) continue ;; esac
				case " $hc_below " in *" $hc_q "*) ;; *) hc_below="$hc_below $hc_q" ;; esac
				;;
			esac
		done
		set -f
		# shellcheck disable=SC2086 # its words are counted
		set -- $hc_below
		case $hc_root in mq | mqprio) [ $# -eq 1 ] && hc_root=$1 ;; esac
		printf '%s' "$hc_root"
	}
}

# Writes, and leaves what the system said in hc_error.  Nobody believes the exit status.
hc_put() {
	case $1 in
	# cat, since dash's printf loses errno; one write with the whole value
	sysctl) hc_error=$({ printf '%s\n' "$3" | cat >"$2"; } 2>&1) ;;
	qdisc) hc_put_qdisc "$2" "$3" ;;
	txqueuelen)
		if [ -w "/sys/class/net/$2/tx_queue_len" ]; then
			hc_error=$({ printf '%s\n' "$3" | cat >"/sys/class/net/$2/tx_queue_len"; } 2>&1)
		else
			hc_error=$(ip link set dev "$2" txqueuelen "$3" 2>&1)
		fi
		;;
	tso) hc_error=$(ethtool -K "$2" tso "${3%% *}" 2>&1) ;;
	esac
	return 0
}

# DEVICE WANTED: a name, or what `tc qdisc show dev X` printed when it was there.  A queueing discipline
# that the kernel had chosen (handle 0:) comes back by taking ours away; one that somebody had set is
# set again with its options.
hc_put_qdisc() {
	case $2 in
	'qdisc '*) ;;
	*)
		hc_get qdisc "$1"
		hc_qdisc_line "$hc_value"
		case $hc_kind in
		# a single root would take the queues of the CPUs away
		mq) hc_put_mq "$1" "$2" ;;
		*) hc_error=$(tc qdisc replace dev "$1" root "$2" 2>&1) ;;
		esac
		return
		;;
	esac
	hc_qdisc_line "$2"
	if [ "$hc_handle" = 0: ]; then
		hc_lend_default "$(hc_qdisc_name "$2")"
		tc qdisc replace dev "$1" root pfifo >/dev/null 2>&1 # a root of handle 0: can't be deleted
		hc_error=$(tc qdisc del dev "$1" root 2>&1)
		hc_mend
	elif hc_qdisc_args "$2"; then
		set -f
		# shellcheck disable=SC2086 # the words are arguments
		hc_error=$(tc qdisc replace dev "$1" root handle "$hc_handle" $hc_args 2>&1)
		set +f
	else
		hc_error="hostcfg can't make this queueing discipline again: $2"
	fi
}

# The kernel chooses by what net.core.default_qdisc is at that moment, which may be another one by now: for that
# moment it is what the interface had.  The file tells a restore after a kill what to put back.
hc_lend_default() {
	hc_default=$(cat /proc/sys/net/core/default_qdisc 2>/dev/null) || return 0
	case $1 in '' | noqueue | mq | mqprio | "$hc_default") return 0 ;; esac
	printf '%s\n' "$hc_default" >"$hc_dir/default_qdisc"
	printf '%s\n' "$1" | cat >/proc/sys/net/core/default_qdisc
} 2>/dev/null

# Puts back what a restore that was killed had lent.
hc_mend() {
	[ -s "$hc_dir/default_qdisc" ] || return 0
	cat "$hc_dir/default_qdisc" >/proc/sys/net/core/default_qdisc && rm -f "$hc_dir/default_qdisc"
} 2>/dev/null

hc_put_mq() {
	hc_error=$(tc qdisc replace dev "$1" root handle 1: mq 2>&1)
	hc_get qdisc "$1"
	for hc_p in $(printf '%s\n' "$hc_value" | sed -n 's/^qdisc [^ ]* [^ ]* parent \(1:[0-9a-f]*\).*/\1/p'); do
		hc_error="$hc_error$(tc qdisc replace dev "$1" parent "$hc_p" "$2" 2>&1)"
	done
}

# hc_kind, hc_handle, hc_options of the root in the output of `tc qdisc show dev X`.
hc_qdisc_line() {
	hc_kind=
	hc_handle=
	hc_options=
	hc_line=$(printf '%s\n' "$1" | sed -n 's/^qdisc \([^ ]*\) \([^ ]*\) root */\1 \2 /p')
	set -f
	# shellcheck disable=SC2086 # its words; no here-document, since that wants a /tmp that can be written
	set -- $hc_line
	set +f
	hc_kind=${1-}
	hc_handle=${2-}
	[ $# -gt 2 ] || return 0
	shift 2
	hc_options=$*
}

# hc_args=the arguments that make the root of this `tc qdisc show` output again; fails for a tree of
# classes and for options that are not known, since these would come back as something else.
hc_qdisc_args() {
	hc_qdisc_line "$1"
	hc_args=$hc_kind
	case $hc_kind in
	pfifo_fast) return 0 ;; # it has no options that could be set
	pfifo | bfifo | fq | fq_codel | codel | sfq) ;;
	*) return 1 ;;
	esac
	# what fq of Linux 6.7 and later shows when nobody set it
	hc_stock=' bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536'
	case $hc_options in *"$hc_stock"*) hc_options="${hc_options%%"$hc_stock"*} ${hc_options#*"$hc_stock"}" ;; esac
	set -f
	# shellcheck disable=SC2086 # its words are looked at one by one
	set -- $hc_options
	set +f
	while [ $# -gt 0 ]; do
		case $1 in
		limit | quantum | initial_quantum | flow_limit | flows | drop_batch | buckets | orphan_mask)
			hc_args="$hc_args $1 ${2%[pb]}"
			[ $# -gt 1 ] && shift
			;;
		target | interval | memory_limit | low_rate_threshold | refill_delay | ce_threshold | timer_slack | horizon)
			hc_args="$hc_args $1 $2"
			[ $# -gt 1 ] && shift
			;;
		ecn | noecn | horizon_drop | horizon_cap | nopacing) hc_args="$hc_args $1" ;;
		# "1024p" after buckets, "depth 127" and "divisor": what tc shows and does not take
		*) return 1 ;;
		esac
		shift
	done
}

# Why the old value of a step could not come back: hc_why; 0 when it can.
hc_can_restore() {
	[ "$1" = qdisc ] || return 0
	hc_qdisc_line "$3"
	[ "$hc_handle" = 0: ] && return 0
	if [ -n "$(tc filter show dev "$2" 2>/dev/null)" ]; then
		hc_why="$2 has traffic filters, which would be lost with its queueing discipline"
		return 1
	fi
	hc_qdisc_args "$3" && return 0
	hc_why="the queueing discipline of $2 was made by hand and can't be made again from what tc shows: $3"
	return 1
}

# Whether a file has chattr(1)'s i or a, which no mode shows.
hc_fixed_file() {
	hc_w=$(lsattr -d "$1" 2>/dev/null) || return 1
	case ${hc_w%% *} in *[ia]*) return 0 ;; esac
	return 1
}

# The permission bits of a key: a kernel that keeps one read-only gives it no write bit, for root either.
hc_mode() {
	[ "$1" = sysctl ] && ls -ld "$2" 2>/dev/null
	return 0
}

hc_module_loaded() {
	grep -q "^$1 " /proc/modules 2>/dev/null
}

# KIND ARG WANTED: the module of a congestion control that the kernel does not have yet.  The kernel loads it by
# itself where it may; where it may not, the write says so.
hc_load_for() {
	case $2 in
	*/tcp_congestion_control)
		hc_norm "$(cat "${2%/*}/tcp_available_congestion_control" 2>/dev/null)"
		case " $hc_norm " in *" $3 "*) return 0 ;; esac
		modprobe -q "tcp_$3" >/dev/null 2>&1
		;;
	esac
	return 0
}

# rmmod refuses a module that something uses: then it stays.
hc_module_unload() {
	rmmod "$1" >/dev/null 2>&1
}

# Starts "$hc_dir/restore timer" so that it outlives the session; prints how.
hc_detach() {
	if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1 &&
		true >"$hc_dir/timer.unit"; then
		if systemd-run --unit="hostcfg-$hc_id" --description="hostcfg: revert of change $hc_id" \
			/bin/sh "$hc_dir/restore" timer >/dev/null 2>&1 && hc_timer_runs; then
			printf systemd
			return 0
		fi
		systemctl stop "hostcfg-$hc_id.service" >/dev/null 2>&1
		rm -f "$hc_dir/timer.unit"
	fi
	(
		hc_leave_session
		hc_spawn
	)
	hc_timer_runs && hc_spawned
}

# Out of the session's control group, which a login manager may kill at logout.
hc_leave_session() {
	grep -q 'session-\|user\.slice' /proc/self/cgroup 2>/dev/null || return 0
	hc_own_pid
	for hc_g in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
		[ -w "$hc_g/cgroup.procs" ] && printf '%s\n' "$hc_self" >"$hc_g/cgroup.procs"
	done 2>/dev/null
	return 0
}

# hc_self=the process that runs this, where $$ is still the parent's.
hc_own_pid() {
	read -r hc_self hc_rest </proc/self/stat
}

# The ports that TCP servers listen on, as /proc/net has them.
hc_listeners() {
	[ -r /proc/net/tcp ] || return 1
	cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | sed -n 's/^ *[0-9]*: [0-9A-F]*:\([0-9A-F]*\) [0-9A-F]*:0000 0A .*/\1/p'
}
