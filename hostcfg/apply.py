"""Changing one host: read, plan, journal, begin (lock, backup, timer), write, verify, confirm.

What the command line builds on (``hostcfg.changes`` has the values, ``hostcfg.journal`` the store)::

    journal = Journal.open()                     # HOSTCFG_STATE or the user's state directory; JournalError
    draft = journal.draft("apply", profile={...})   # an id; stored with the first host that has a step

    plan_host(host, connect=..., read=..., planner=...) -> Plan            # plan, apply --dry-run
    apply_host(host, change=draft, journal=journal, connect=..., read=..., planner=...,
               options=ChangeOptions(revert_in_s=60, hold=False, persist=False, force=False),
               on_event=lambda name: None) -> HostChange
    confirm_change(change_id, journal=journal, connect=...) -> Sequence[HostChange]

    connect: Callable[[str], Transport]          # a fresh, unopened transport for a host's name
    read:    Callable[[Transport, str], Facts]   # reader.probe over an open transport
    planner: Callable[[Facts], Plan]             # profile -> targets -> differences -> make_plan

    # hostcfg.plan
    make_plan(facts, differences, platform, *, persist=False, force=False, also={}) -> Plan
        # also: native key -> raw of targets that hold already; with persist they are persisted too

    # hostcfg.rollback: each returns Rollback(id: str | None, hosts: Sequence[HostChange])
    rollback_change(change_id, journal=..., connect=..., read=..., options=...)
    rollback_last(journal=..., ...)      rollback_host(host, journal=..., ...)
    rollback_unfinished(journal=..., connect=...)

    journal.changes(limit=None) -> Sequence[Change];  journal.change(change_id) -> Change
    change_document(id, hosts), history_document(changes)                  # hostcfg.changes

``apply_host`` never raises for what happens to a host: HostError and ChangeRefused become
``HostChange.error``; only JournalError (nothing can be recorded, so nothing may be written) and
faults of ours are raised.  A plan without steps gives status ``applied`` with no steps, and nothing
is stored or written.  Exit code 2 if any ``HostChange.trouble``.
"""
