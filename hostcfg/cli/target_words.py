"""The words that were typed as targets: files among them, and what can be none."""

from __future__ import annotations

from hostcfg.errors import UsageError

FILE_ENDINGS = (".txt", ".json", ".conf", ".log", ".out")
"""No host's name ends so: what is called so and is there was meant as a file: target."""


def with_files(target: str) -> list[str]:
    """``target``, or of a ``file:`` that names a directory or a glob one for each of its files."""
    if not target.startswith("file:"):
        return [target]
    from hostcfg.files import expanded

    return [f"file:{name}" for name in expanded(target.removeprefix("file:"))]


def refuse_password(target: str) -> None:
    """Before anything else is said of a target; files don't pay for it."""
    if "@" in target:
        from hostcfg.transports import destination

        destination.refuse_password(target)


def check_destination(target: str) -> None:
    """UsageError for a word that is no SSH destination: often a path, or a pattern as Ansible has them."""
    from hostcfg.files import is_there
    from hostcfg.transports.destination import parse_destination

    if target.endswith(FILE_ENDINGS) and is_there(target):
        raise UsageError(f"{target!r} is a file here: did you mean file:{target}?")
    try:
        parse_destination(target)
    except UsageError as error:
        if is_there(target):
            raise UsageError(f"{target!r} is a path here: did you mean file:{target}?") from None
        if not any(c in target for c in ",!&"):
            raise
        hint = "give several targets as words of their own, and --limit or --exclude to choose among them"
        raise UsageError(f"{error.message.partition(';')[0]}; {hint}") from None
