# hostcfg: exec 3 of an apply.  Writes the steps in their order, reads each one back, and stops at the first
# that did not come out as wanted, after putting back what was written.
# Set before this text: hc_accept (1: a value that came out different is kept).

hc_write_refuse() {
	hc_say refused "$1$hc_nl$2"
	hc_done
	exit 0
}

# N KIND ARG BEFORE HAS_BEFORE WANTED EXPECTED
hc_write_step() {
	[ -z "$hc_stop" ] || return 0
	[ -e "$hc_dir/state.pending" ] || {
		hc_stop=taken
		return 0
	}
	hc_get "$2" "$3"
	hc_rc=$?
	hc_say "before.$1" "$hc_value" "$hc_rc"
	if [ "$hc_rc" = 0 ] && hc_match "$2" "$hc_value" "$7"; then
		hc_say "after.$1" "$hc_value" 0
		return 0
	fi
	if [ "$5" = 1 ] && { [ "$hc_rc" != 0 ] || ! hc_match "$2" "$hc_value" "$4"; }; then
		hc_stop=changed
		hc_say "changed.$1" "$hc_value"
		return 0
	fi
	printf '%s\n' "$1" >>"$hc_dir/written" || {
		hc_stop=space
		return 0
	}
	hc_error=
	hc_load_for "$2" "$3" "$6"
	hc_put "$2" "$3" "$6"
	hc_say "error.$1" "$hc_error"
	hc_get "$2" "$3"
	hc_rc=$?
	hc_say "after.$1" "$hc_value" "$hc_rc"
	if [ "$hc_rc" = 0 ] && hc_match "$2" "$hc_value" "$7"; then
		:
	else
		hc_say "mode.$1" "$(hc_mode "$2" "$3")"
		[ "$hc_accept" = 1 ] && [ "$hc_rc" = 0 ] && ! hc_match "$2" "$hc_value" "$4" || hc_stop=failed
	fi
	if [ ! -e "$hc_dir/state.pending" ]; then
		# the time ran out while we wrote: whoever restores may have been here before us
		hc_stop=taken
		hc_marks=all hc_pass=1 hc_careful=0 hc_bad=
		hc_restore_step "$@" >/dev/null
	fi
}

hc_final_step() {
	hc_get "$2" "$3"
	hc_say "final.$1" "$hc_value" "$?"
}

# Some time must be left to verify and to confirm: a third of what was asked for, at most 5 s.
hc_check_time() {
	[ "$hc_revert" -gt 0 ] || return 0
	hc_time_left
	[ "$hc_timer" = alive ] || hc_write_refuse timer "the timer is gone"
	hc_least=$((hc_revert / 3))
	[ "$hc_least" -le 5 ] || hc_least=5
	[ "$hc_left" -ge "$hc_least" ] || hc_write_refuse late "$hc_left"
}

hc_write() {
	trap '' HUP PIPE
	hc_find_lock
	[ "$hc_lock_id" = "$hc_id" ] || hc_write_refuse lock "$hc_lock_id"
	hc_read_state "$hc_dir"
	[ "$hc_state" = pending ] || hc_write_refuse state "$hc_state"
	hc_check_time
	hc_stop=
	true >"$hc_dir/writing" || hc_write_refuse space "$hc_dir"
	hc_each hc_write_step
	[ -z "$hc_stop" ] && hc_each hc_final_step
	rm -f "$hc_dir/writing"
	if [ -n "$hc_stop" ]; then
		hc_say stop "$hc_stop"
		hc_said=$(hc_restore remote 2>&1)
		hc_each hc_final_step
		hc_say restore "$hc_said"
		hc_say unrestored "$(cat "$hc_dir/unrestored" 2>/dev/null)"
	fi
	hc_new=
	for hc_m in $hc_modules; do
		hc_module_loaded "$hc_m" && ! grep -qx "$hc_m" "$hc_dir/modules.before" && hc_new="$hc_new $hc_m"
	done
	hc_say modules "$hc_new"
	hc_time_left
	hc_say left "$hc_left"
	hc_read_state "$hc_dir"
	hc_say state "$hc_state"
	hc_done
}
