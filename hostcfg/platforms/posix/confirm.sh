# hostcfg: exec 4 of an apply, over a new connection.  Writes the files, ends the change, disarms the timer.
# Everything slow is done before the state is changed: what follows takes milliseconds, and a confirmation that
# dies there is taken back by the timer or by `rollback --unfinished`.
# Defined before this text: hc_contents N (prints the new contents of file N, status 1: it shall be absent),
# hc_each_write FUNC (N PATH MODE UID GID PRESENT); set: hc_accept, hc_unload_list.

hc_confirm_refuse() {
	hc_say refused "$1$hc_nl$2"
	hc_read_state "$hc_dir"
	hc_say state "$hc_state"
	hc_done
	exit 0
}

# N KIND ARG BEFORE HAS_BEFORE WANTED EXPECTED.  Only steps that were written.
hc_confirm_step() {
	hc_get "$2" "$3"
	hc_rc=$?
	hc_say "final.$1" "$hc_value" "$hc_rc"
	[ "$hc_accept" = 1 ] && return 0
	[ "$hc_rc" = 0 ] && hc_match "$2" "$hc_value" "$7" || hc_lost="$hc_lost $1"
}

# The file as begin found it, or someone has changed it since.
hc_unchanged_file() {
	if [ -e "$hc_dir/file.$1" ]; then
		hc_same_file "$hc_dir/file.$1" "$2"
	else
		[ ! -e "$2" ] && [ ! -h "$2" ]
	fi
}

# N PATH MODE UID GID PRESENT
hc_stage_file() {
	[ -z "$hc_fault" ] || return 0
	hc_unchanged_file "$1" "$2" || {
		hc_fault="file$hc_nl$2 was changed by someone else"
		return 0
	}
	[ "$6" = 1 ] || {
		hc_mark_file "$1" "$2"
		return 0
	}
	if [ ! -d "${2%/*}" ]; then
		printf 'd.%s\n' "$1" >>"$hc_dir/written" && mkdir -m 755 "${2%/*}" || hc_fault="space$hc_nl${2%/*}"
	fi
	hc_temp=$2.hostcfg-$hc_id
	hc_contents "$1" >"$hc_dir/new.$1" 2>/dev/null &&
		{ [ ! -e "$2" ] || cp -p "$2" "$hc_temp" 2>/dev/null; } && # keeps what else hangs on the file
		cat "$hc_dir/new.$1" >"$hc_temp" 2>/dev/null &&
		chown "$4:$5" "$hc_temp" && chmod "$3" "$hc_temp" &&
		hc_same_file "$hc_dir/new.$1" "$hc_temp" &&
		[ "$(wc -c <"$hc_temp")" -eq "$7" ] || hc_fault="space$hc_nl$2"
	hc_sync "$hc_temp"
	hc_mark_file "$1" "$2"
}

# What restores must know of a file before it is touched, and after a power cut too.
hc_mark_file() {
	[ -z "$hc_fault" ] || return 0
	printf 'f.%s\n' "$1" >>"$hc_dir/written" || hc_fault="space$hc_nl$2"
}

hc_unstage_file() {
	rm -f "$2.hostcfg-$hc_id"
	[ -e "$2" ] || { hc_read_marks && hc_marked "d.$1" && rmdir "${2%/*}" 2>/dev/null; }
	return 0
}

hc_put_file() {
	[ -z "$hc_fault" ] || return 0
	[ -e "$hc_dir/state.confirming" ] || return 0
	if [ "$6" = 1 ]; then
		mv -f "$2.hostcfg-$hc_id" "$2" && hc_label "$2" && hc_same_file "$hc_dir/new.$1" "$2" ||
			hc_fault="file$hc_nl$2 could not be replaced"
	else
		rm -f "$2"
		[ ! -e "$2" ] || hc_fault="file$hc_nl$2 could not be removed"
	fi
	hc_say "file.$1" "$(ls -lnd "$2" 2>/dev/null)"
	hc_sync "${2%/*}"
}

# After a fault: everything back, and what is left to say.
hc_give_up() {
	hc_each_write hc_unstage_file
	hc_said=$(hc_restore remote 2>&1)
	# a timer that took over may have restored before our last rename
	hc_bad=
	hc_read_marks
	hc_each_file hc_restore_file >/dev/null
	hc_say restore "$hc_said"
	hc_say unrestored "$(cat "$hc_dir/unrestored" 2>/dev/null)"
	hc_confirm_refuse "$1" "$2"
}

# The newest five finished backups stay, this one among them; ids of one second do not sort by time.
hc_prune() {
	hc_n=1
	# shellcheck disable=SC2045 # names here are ids: no blanks
	for hc_d in $(ls -t "$hc_base"); do
		[ "$hc_d" != "$hc_id" ] && [ -d "$hc_base/$hc_d" ] && [ -e "$hc_base/$hc_d/owner" ] || continue
		hc_read_state "$hc_base/$hc_d"
		case $hc_state in
		confirmed | restored | failed)
			hc_n=$((hc_n + 1))
			[ "$hc_n" -gt 5 ] || continue
			# a timer that has not seen the end yet must not find its directory gone
			(hc_id=$hc_d hc_dir=$hc_base/$hc_d hc_revert=1 && hc_stop_timer)
			rm -rf "${hc_base:?}/$hc_d"
			;;
		esac
	done
	return 0
}

hc_confirm() {
	trap '' HUP PIPE
	hc_read_state "$hc_dir"
	[ "$hc_state" = confirmed ] && hc_confirm_refuse over confirmed
	[ "$hc_state" = pending ] || hc_confirm_refuse state "$hc_state"
	hc_lost=
	hc_each hc_confirm_step
	[ -z "$hc_lost" ] || hc_give_up overridden "$hc_lost"
	hc_fault=
	hc_each_write hc_stage_file
	[ -z "$hc_fault" ] || hc_give_up "${hc_fault%%"$hc_nl"*}" "${hc_fault#*"$hc_nl"}"
	hc_sync "$hc_dir/written" "$hc_dir"
	hc_move pending confirming || {
		hc_each_write hc_unstage_file
		hc_read_state "$hc_dir"
		hc_confirm_refuse state "$hc_state"
	}
	hc_each_write hc_put_file
	[ -z "$hc_fault" ] || hc_give_up "${hc_fault%%"$hc_nl"*}" "${hc_fault#*"$hc_nl"}"
	hc_move confirming confirmed || hc_give_up state taken
	hc_sync "$hc_dir"
	hc_stop_timer
	for hc_m in $hc_unload_list; do
		hc_module_loaded "$hc_m" && hc_module_unload "$hc_m"
	done
	hc_prune
	hc_read_state "$hc_dir"
	hc_say state "$hc_state"
	hc_done
}
