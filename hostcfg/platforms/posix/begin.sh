# hostcfg: exec 2 of an apply.  Takes the lock, checks that the host is still as it was planned for,
# keeps a backup, arms the timer and proves that it runs.  Writes none of the settings.
# Set before this text: hc_by hc_from hc_started hc_want_identity hc_restore_bytes hc_force;
# defined before it: hc_restore_text (prints the restore script).

hc_locked=
hc_why=

# Nothing was written: leaves no trace.  CODE TEXT
hc_refuse() {
	trap '' HUP INT PIPE TERM
	hc_say refused "$1$hc_nl$2"
	hc_clean
	hc_done
	exit 0
}

hc_clean() {
	[ -n "$hc_made" ] || return 0
	hc_stop_timer
	rm -rf "$hc_dir"
	[ -z "$hc_locked" ] || rm -f "$hc_base/lock.$hc_locked"
	return 0
}

# Who holds the host, for the refusal.
hc_show_holder() {
	hc_holder=$hc_base/$hc_lock_id
	hc_say holder "$(cat "$hc_base/lock.$hc_lock_n" 2>/dev/null)${hc_nl}state=$hc_state"
	hc_mine=$hc_dir
	hc_dir=$hc_holder
	hc_keep=$hc_revert
	hc_revert=$(cat "$hc_holder/revert" 2>/dev/null)
	case $hc_revert in '' | *[!0-9]*) hc_revert=0 ;; esac
	hc_time_left
	hc_say holder-timer "$hc_timer $hc_left"
	hc_dir=$hc_mine
	hc_revert=$hc_keep
}

# A begin that was killed before it wrote anything is over; only one that is younger than 30 s counts.
hc_end_preparing() {
	hc_since=$(sed -n 's/^uptime=//p' "$hc_base/lock.$hc_lock_n" 2>/dev/null)
	case $hc_since in '' | *[!0-9]*) hc_since=0 ;; esac
	hc_uptime
	[ "$hc_now" -ge "$hc_since" ] && [ $((hc_now - hc_since)) -lt 30 ] && return 1
	mv -f "$hc_base/$hc_lock_id/state.preparing" "$hc_base/$hc_lock_id/state.restored" 2>/dev/null
}

hc_take_lock() {
	for hc_round in 1 2 3; do
		hc_find_lock
		if [ "$hc_lock_n" -gt 0 ]; then
			hc_read_state "$hc_base/${hc_lock_id:-.}"
			case $hc_state in
			confirmed | restored | failed | gone) ;;
			preparing)
				hc_end_preparing || {
					hc_show_holder
					hc_refuse locked "$hc_lock_id"
				}
				;;
			*)
				hc_show_holder
				hc_refuse locked "$hc_lock_id"
				;;
			esac
		fi
		hc_new=$((hc_lock_n + 1))
		ln "$hc_dir/owner" "$hc_base/lock.$hc_new" 2>/dev/null || continue
		hc_locked=$hc_new
		hc_find_lock
		[ "$hc_lock_n" = "$hc_locked" ] || hc_refuse locked "$hc_lock_id"
		for hc_f in "$hc_base"/lock.*; do
			[ "$hc_f" = "$hc_base/lock.$hc_locked" ] || rm -f "$hc_f"
		done
		return 0
	done
	hc_refuse space "can't make a lock in $hc_base"
}

# N KIND ARG BEFORE HAS_BEFORE WANTED
hc_check_step() {
	hc_get "$2" "$3"
	hc_rc=$?
	hc_say "before.$1" "$hc_value" "$hc_rc"
	[ "$5" = 1 ] || return 0
	if [ "$hc_rc" != 0 ] || ! hc_match "$2" "$hc_value" "$4"; then
		hc_changed="$hc_changed $1"
		return 0
	fi
	[ "$2" = sysctl ] || printf '%s\n' "$hc_value" >"$hc_dir/before.$1" || hc_refuse space "$hc_dir"
	if ! hc_can_restore "$2" "$3" "$hc_value" && [ "$hc_force" = 0 ]; then
		hc_refuse no_inverse "$hc_why"
	fi
}

# N PATH.  A link is refused, since a rename would replace the link and not the file.
hc_back_up() {
	if [ ! -e "$2" ] && [ ! -h "$2" ]; then
		hc_say "file.$1" absent
		true >"$hc_dir/absent.$1" || hc_refuse space "$hc_dir"
		[ -d "${2%/*}" ] || hc_say "dir.$1" absent
		return 0
	fi
	if [ -h "$2" ] || [ ! -f "$2" ]; then
		hc_refuse file "$2 is no plain file ($(ls -ld "$2" 2>/dev/null)): hostcfg does not replace it"
	fi
	# before the copy: FreeBSD's would be as immutable, and stay for ever
	hc_fixed_file "$2" && hc_refuse file "$2 is marked immutable or append-only: hostcfg does not take that away"
	cp -p "$2" "$hc_dir/file.$1" && hc_same_file "$2" "$hc_dir/file.$1" || hc_refuse space "no room for a copy of $2"
	hc_say "file.$1" "$(ls -lnd "$2")"
	hc_say "bytes.$1" "$(hc_hex "$2")"
}

hc_hex() {
	od -An -v -tx1 "$1" 2>/dev/null || hexdump -v -e '1/1 "%02x "' "$1"
}

hc_prepare() {
	printf '%s\nby=%s\nfrom=%s\nstarted=%s\nuptime=%s\n' \
		"$hc_id" "$hc_by" "$hc_from" "$hc_started" "$hc_now" >"$hc_dir/owner" &&
		printf '%s\n' "$hc_revert" >"$hc_dir/revert" &&
		hc_boot >"$hc_dir/boot" &&
		hc_restore_text >"$hc_dir/restore" &&
		[ "$(wc -c <"$hc_dir/restore")" -eq "$hc_restore_bytes" ] &&
		chmod 700 "$hc_dir/restore" &&
		printf 'To undo hostcfg change %s by hand, as root: sh %s/restore\n' "$hc_id" "$hc_dir" >"$hc_dir/NOTE" &&
		cp "$hc_dir/NOTE" "$hc_dir/state.preparing" &&
		true >"$hc_dir/timer.log" && true >"$hc_dir/written" && [ -s "$hc_dir/NOTE" ]
}

hc_arm() {
	hc_uptime
	# one second early, since the timer looks once a second: within the time is what was promised
	printf '%s\n' "$((hc_now + hc_revert - 1))" >"$hc_dir/deadline" || hc_refuse space "$hc_dir"
	hc_how=$(hc_detach) || hc_refuse timer "no process could be left behind on this host"
	hc_time_left
	hc_say timer "$hc_how $hc_left"
}

hc_begin() {
	trap '' HUP PIPE
	hc_made=
	[ "$(id -u)" = 0 ] || hc_refuse no_permission "uid $(id -u)"
	hc_have=$(hc_identity)
	hc_say identity "$hc_have"
	hc_other_machine && hc_refuse other_machine "$hc_have"
	# others may want to read /var/lib, which FreeBSD does not have by itself; what is ours they may not
	(umask 022 && mkdir -p "${hc_base%/*}" 2>/dev/null)
	mkdir -p "$hc_base" 2>/dev/null && chmod 700 "$hc_base" || hc_refuse space "can't make $hc_base"
	mkdir "$hc_dir" || hc_refuse exists "$hc_dir can't be made: is it there already?"
	hc_made=1
	hc_uptime
	hc_prepare 2>/dev/null || hc_refuse space "no room in $hc_base"
	hc_take_lock
	hc_changed=
	hc_each hc_check_step
	if [ -n "$hc_changed" ] && [ "$hc_force" = 0 ]; then
		hc_refuse changed "$hc_changed"
	fi
	hc_each_file hc_back_up
	hc_here=
	for hc_m in $hc_modules; do
		hc_module_loaded "$hc_m" && hc_here=$hc_here$hc_m$hc_nl
	done
	printf '%s' "$hc_here" >"$hc_dir/modules.before" || hc_refuse space "$hc_dir"
	hc_sync "$hc_dir"/* "$hc_dir" "$hc_base"
	[ "$hc_revert" -gt 0 ] && hc_arm
	hc_move preparing pending || hc_refuse space "the state can't be changed in $hc_dir"
	hc_sync "$hc_dir"
	hc_said=$(hc_listeners) && hc_say listeners "$hc_said"
	command -v logger >/dev/null 2>&1 && logger -t hostcfg -- "$(cat "$hc_dir/NOTE")" 2>/dev/null
	hc_read_state "$hc_dir"
	hc_say state "$hc_state"
	hc_done
}

# Whether one of the names that this machine is known by is another one now.
hc_other_machine() {
	[ -n "$hc_want_identity" ] || return 1
	hc_was=$(printf '%s\n%s\n' "$hc_want_identity" "$hc_have" | sort | uniq -u | sed 's/ .*//' | sort | uniq -d)
	[ -n "$hc_was" ]
}
