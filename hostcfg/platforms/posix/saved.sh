# hostcfg: the script that stays on the host.  `sh restore` by hand; `restore timer` waits first.
case ${1:-hand} in
timer)
	hc_tries=${2:-0}
	trap hc_again EXIT
	if (true >>"$hc_dir/timer.log") 2>/dev/null; then exec >>"$hc_dir/timer.log" 2>&1; fi
	hc_timer_main
	;;
remote) hc_restore remote ;;
*)
	hc_restore hand
	printf 'hostcfg change %s is now: %s\n' "$hc_id" "$hc_state"
	[ "$hc_state" = restored ]
	;;
esac
