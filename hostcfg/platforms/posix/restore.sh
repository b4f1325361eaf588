# hostcfg: puts the before-values back.  Runs from the timer, by hand, or over a connection.

# hc_marks=what this change has begun to write: numbers of steps, f.N for files, d.N for directories.
# No process is needed for it: some shells go on with an empty answer where they get none.
hc_read_marks() {
	hc_marks=' '
	[ -e "$hc_dir/written" ] && while IFS= read -r hc_w; do hc_marks="$hc_marks$hc_w "; done <"$hc_dir/written"
	[ "$hc_state" = gone ] && hc_marks=all
	return 0
}

hc_marked() {
	[ "$hc_marks" = all ] && return 0
	case $hc_marks in *" $1 "*) return 0 ;; esac
	return 1
}

# Decides who restores.  0: we do (hc_unrecorded=1 where the disk takes no record of it, since the
# values matter more than the record); 1: it is done already; 2: it must not be done.
hc_claim() {
	hc_unrecorded=0
	for hc_round in 1 2 3 4 5; do
		hc_read_state "$hc_dir"
		case $hc_state in
		preparing) hc_move preparing restored && return 1 ;;
		pending) hc_move pending restoring && return 0 ;;
		confirming) hc_move confirming restoring && return 0 ;;
		restoring) return 0 ;;
		restored) return 1 ;;
		confirmed)
			[ "$1" = hand ] || return 2
			hc_move confirmed restoring && return 0
			;;
		failed)
			[ "$1" = timer ] && return 2
			hc_move failed restoring && return 0
			;;
		gone)
			[ "$1" = timer ] && return 0
			return 2
			;;
		esac
	done
	hc_unrecorded=1
	return 0
}

# The same number in the other form that a kernel prints: 32 bits without and with sign.
hc_other_form() {
	case $1 in
	-1) hc_other=4294967295 ;;
	4294967295) hc_other=-1 ;;
	*) hc_other= ;;
	esac
}

# One step: N KIND ARG BEFORE HAS_BEFORE WANTED.  Sets hc_bad to the steps that are not back.
hc_restore_step() {
	hc_marked "$1" || return 0
	if [ "$5" = 0 ]; then
		[ "$hc_pass" = 1 ] && printf 'step %s (%s): its old value was not known; it stays\n' "$1" "$3"
		return 0
	fi
	hc_before=$4
	if [ -e "$hc_dir/before.$1" ]; then
		hc_before=$(cat "$hc_dir/before.$1") || {
			hc_bad="$hc_bad $1"
			return 0
		}
	fi
	hc_get "$2" "$3"
	case $? in
	0) hc_match "$2" "$hc_value" "$hc_before" && return 0 ;;
	1) # an interface that was taken out, a module that is gone: nothing is left to put back
		[ "$hc_pass" = 1 ] && printf 'step %s (%s): no longer there\n' "$1" "$3"
		return 0
		;;
	esac
	if [ "$hc_careful" = 1 ] && ! hc_match "$2" "$hc_value" "$6"; then
		[ "$hc_pass" = 1 ] && printf 'step %s (%s): not what hostcfg wrote; it stays\n' "$1" "$3"
		return 0
	fi
	hc_put "$2" "$3" "$hc_before"
	hc_get "$2" "$3" && hc_match "$2" "$hc_value" "$hc_before" && {
		printf 'step %s (%s): back\n' "$1" "$3"
		return 0
	}
	hc_other_form "$hc_before"
	if [ -n "$hc_other" ]; then
		hc_put "$2" "$3" "$hc_other"
		hc_get "$2" "$3" && {
			hc_match "$2" "$hc_value" "$hc_before" || hc_match "$2" "$hc_value" "$hc_other"
		} && return 0
	fi
	hc_bad="$hc_bad $1"
	hc_norm "$hc_error"
	printf 'step %s (%s): not back, the host has %s (%s)\n' "$1" "$3" "$hc_value" "$hc_norm"
}

# One file: N PATH.  A copy beside it first, then rename: it is never half there.
hc_restore_file() {
	rm -f "$2.hostcfg-$hc_id" # a confirmation that was killed may have left it
	hc_marked "f.$1" || {
		hc_marked "d.$1" && [ "$hc_marks" != all ] && rmdir "${2%/*}" 2>/dev/null
		return 0
	}
	if [ -e "$hc_dir/file.$1" ]; then
		if ! hc_same_file "$hc_dir/file.$1" "$2"; then
			if cp -p "$hc_dir/file.$1" "$2.hostcfg-$hc_id"; then
				hc_sync "$2.hostcfg-$hc_id" # or a power cut leaves a name without contents
				mv -f "$2.hostcfg-$hc_id" "$2"
			else
				rm -f "$2.hostcfg-$hc_id"
				mv -f "$hc_dir/file.$1" "$2" # no room for a copy: the backup itself
				[ -e "$hc_dir/file.$1" ] || cp -p "$2" "$hc_dir/file.$1"
			fi
			hc_label "$2"
			hc_sync "$2" "${2%/*}"
		fi
		hc_same_file "$hc_dir/file.$1" "$2" && return 0
	elif [ -e "$hc_dir/absent.$1" ]; then
		rm -f "$2"
		hc_marked "d.$1" && rmdir "${2%/*}" 2>/dev/null
		[ ! -e "$2" ] && return 0
	fi
	hc_bad="$hc_bad f.$1"
	printf 'file %s: not back\n' "$2"
}

# The SELinux context that the policy gives this path, where there is a policy.
hc_label() {
	command -v restorecon >/dev/null 2>&1 && restorecon "$1" >/dev/null 2>&1
	return 0
}

hc_unload() {
	for hc_m in $hc_modules; do
		grep -qx "$hc_m" "$hc_dir/modules.before" 2>/dev/null && continue
		hc_module_loaded "$hc_m" && hc_module_unload "$hc_m"
	done
	return 0
}

# Up to three passes: an old value may be refused only until another one is back (a cap, an exclusive pair).  The
# timer, after which nobody comes, goes on for ten minutes more: what a host without free processes or memory
# can't do now it can later.  WHO: timer, hand, or remote.  Sets hc_state to what the change is now.
hc_restore() {
	hc_claim "$1"
	case $? in
	1)
		hc_state=restored
		return 0
		;;
	2) return 0 ;;
	esac
	hc_careful=0
	[ "$hc_state" = gone ] && hc_careful=1
	hc_rebooted && hc_careful=1
	hc_read_marks
	hc_pass=0
	while :; do
		hc_pass=$((hc_pass + 1))
		hc_put_back
		[ -n "$hc_bad" ] && [ "$hc_pass" -lt "${hc_passes:-3}" ] || break
		[ "$hc_pass" -lt 3 ] && sleep 1 && continue
		sleep 10
		hc_over && return 0
	done
	if [ "$1" = timer ] && [ -e "$hc_dir/writing" ]; then
		sleep 1 # a write that was under way when the time ran out has landed by now
		hc_put_back
	fi
	hc_unload
	hc_finish
}

hc_put_back() {
	hc_bad=
	hc_mend
	hc_each_back hc_restore_step
	hc_each_file hc_restore_file
}

# Whether someone else has ended the change meanwhile.
hc_over() {
	hc_read_state "$hc_dir"
	case $hc_state in confirmed | restored | failed) return 0 ;; esac
	return 1
}

hc_finish() {
	hc_sync "$hc_dir"
	if [ -z "$hc_bad" ]; then
		rm -f "$hc_dir/unrestored"
		hc_move restoring restored
		hc_state=restored
	else
		printf '%s\n' "$hc_bad" >"$hc_dir/unrestored"
		hc_move restoring failed
		hc_state=failed
	fi
	[ "$hc_unrecorded" = 1 ] && printf 'this could not be recorded in %s\n' "$hc_dir"
	hc_sync "$hc_dir"
	return 0
}

# Waits for the deadline, by the time since boot and by its own sleeps, so that no clock jump
# moves it; then restores unless the change is confirmed.  A confirmation or a restore that has hung for
# 15 s is taken over: both can be done twice.  It goes on with `restore timer TRIES` where it could not
# fork, and restores at once where it is told to end.
hc_timer_main() {
	trap '' HUP INT PIPE
	trap hc_told_to_end TERM
	cd / || :
	hc_protect
	hc_passes=63
	hc_slept=0
	hc_hung=0
	IFS= read -r hc_deadline <"$hc_dir/deadline" || hc_deadline=
	printf '%s\n' "$$" >"$hc_dir/timer.new" && mv -f "$hc_dir/timer.new" "$hc_dir/timer.pid"
	# No room for it (not: no process for mv): whoever began refuses, and can't end what nobody can find, which
	# would put back what a later change sets.
	if [ ! -s "$hc_dir/timer.new" ]; then
		IFS= read -r hc_pid 2>/dev/null <"$hc_dir/timer.pid" || hc_pid=
		[ "$hc_pid" = "$$" ] || {
			trap - EXIT
			return 0
		}
	fi
	while :; do
		hc_read_state "$hc_dir"
		case $hc_state in
		confirmed | restored | failed)
			trap - EXIT
			return 0
			;;
		confirming | restoring) hc_hung=$((hc_hung + 1)) ;;
		*) hc_due && break ;;
		esac
		[ "$hc_hung" -ge 15 ] && break
		sleep 1 && hc_slept=$((hc_slept + 1)) && hc_tries=0
	done
	hc_restore timer
	trap - EXIT
}

# The system goes down, and perhaps without its kernel (a soft reboot starts the user space anew): then the
# new values would stay and nobody would be left to restore.  A final state stays what it is.
hc_told_to_end() {
	trap '' TERM
	hc_passes=3
	hc_read_state "$hc_dir"
	case $hc_state in pending | confirming | restoring) hc_restore timer ;; esac
	trap - EXIT
	exit 0
}

# A shell ends where the kernel gives it no process (bash after 15 s of its own patience); exec needs none.  About
# an hour of that.  The colon takes what bash says of the child that it never had, for its own status.
hc_again() {
	:
	[ "$hc_tries" -lt 1000000 ] && exec /bin/sh "$hc_dir/restore" timer $((hc_tries + 1))
}

hc_due() {
	[ "$hc_slept" -ge "$hc_revert" ] && return 0
	[ -n "$hc_deadline" ] || return 1
	hc_uptime
	[ "$hc_now" -ge "$hc_deadline" ]
}
