# hostcfg: what has become of a change; with hc_do=restore, its before-values back first.

hc_status() {
	trap '' HUP PIPE
	hc_say identity "$(hc_identity)"
	hc_read_state "$hc_dir"
	hc_say was "$hc_state"
	if [ "$hc_do" = restore ] && [ "$(id -u)" = 0 ]; then
		# the restore script of the change itself: it knows the steps
		[ -e "$hc_dir/restore" ] && hc_say restore "$(/bin/sh "$hc_dir/restore" remote 2>&1)"
	fi
	hc_read_state "$hc_dir"
	case $hc_state in restored | confirmed | failed | gone) hc_stop_timer ;; esac
	hc_revert=$(cat "$hc_dir/revert" 2>/dev/null)
	case $hc_revert in '' | *[!0-9]*) hc_revert=0 ;; esac
	hc_time_left
	hc_say timer "$hc_timer $hc_left"
	hc_say written "$(cat "$hc_dir/written" 2>/dev/null)"
	hc_say unrestored "$(cat "$hc_dir/unrestored" 2>/dev/null)"
	hc_say log "$(cat "$hc_dir/timer.log" 2>/dev/null)"
	hc_say uid "$(id -u)"
	hc_read_state "$hc_dir"
	hc_say state "$hc_state"
	hc_done
}
