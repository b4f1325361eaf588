"""Finding profiles: by name, path and directory, in a checkout and in an installed wheel; includes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from os import environ
from pathlib import Path

import pytest

import hostcfg
import hostcfg.profiles
from hostcfg.audit import describe_profile
from hostcfg.errors import ProfileError, UsageError
from hostcfg.model import Link
from hostcfg.outputs.blocks import Heading
from hostcfg.outputs.views import profile_blocks
from hostcfg.platforms.base import ProfileContext
from hostcfg.profiles import find_profile, list_profiles, profile_targets
from hostcfg.profiles.check import check_profile
from hostcfg.profiles.files import builtin_directory

TOP = Path(hostcfg.__file__).parent.parent

OWN = """\
name: {name}
summary: s
when: w
{more}
settings:
  sack: {{rule: exact, value: true, reason: r, source: s}}
"""


def write(folder: Path, name: str, more: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(OWN.format(name=name, more=more))
    return path


def test_the_built_in_profiles_are_those_of_the_contract() -> None:
    assert [profile.name for profile in list_profiles()] == ["default", "lan", "rfc1323-off", "wan"]
    assert builtin_directory() == TOP / "profiles"


def test_an_installed_package_finds_the_profiles_beside_its_modules(tmp_path: Path) -> None:
    package = tmp_path / "hostcfg"
    shutil.copytree(TOP / "hostcfg", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TOP / "profiles", package / "_profiles")  # as the wheel's force-include lays them
    (tmp_path / "profiles").mkdir()  # another package's folder
    script = "from hostcfg.profiles import find_profile; print(find_profile('wan').path)"
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()) == package / "_profiles" / "wan.yaml"


def test_an_installation_without_its_profiles_says_so(tmp_path: Path) -> None:
    shutil.copytree(TOP / "hostcfg", tmp_path / "hostcfg", ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "from hostcfg.errors import HostcfgError\n"
        "from hostcfg.profiles import find_profile\n"
        "try:\n    find_profile('wan')\nexcept HostcfgError as error:\n    print(error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "the profiles that come with hostcfg are missing; install it again" in found.stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wam", "unknown profile 'wam'; did you mean 'wan'?"),
        ("WAN", "unknown profile 'WAN'; did you mean 'wan'?"),
        ("rfc1323", "unknown profile 'rfc1323'; did you mean 'rfc1323-off'?"),
        ("zzz", "unknown profile 'zzz'; known are default, lan, rfc1323-off, wan"),
        ("", "'' names no profile"),
        ("w\0an", "names no profile"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_profile(name)
    assert says in str(caught.value)


def test_a_file_of_that_name_in_the_current_folder_is_pointed_at(tmp_path: Path) -> None:
    write(tmp_path, "backup-site")
    ran = subprocess.run(
        [sys.executable, "-m", "hostcfg", "profiles", "show", "backup-site"],
        cwd=tmp_path,
        env=environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr == (
        "hostcfg: unknown profile 'backup-site', but backup-site.yaml is here: name the file, as in "
        "--profile backup-site.yaml\n"
    )


def test_a_path_and_a_name_in_a_directory_of_one_s_own(tmp_path: Path) -> None:
    path = write(tmp_path / "mine", "site")
    write(tmp_path / "mine", "wan")
    assert find_profile(str(path)).name == "site"
    assert find_profile("site", [tmp_path / "mine"]).path == str(path)
    assert find_profile("wan", [tmp_path / "mine"]).path == str(tmp_path / "mine" / "wan.yaml")
    names = [profile.name for profile in list_profiles([tmp_path / "mine"])]
    assert names == ["default", "lan", "rfc1323-off", "site", "wan"]


def test_a_directory_with_one_profile_is_that_profile(tmp_path: Path) -> None:
    write(tmp_path / "mine", "site")
    assert find_profile(str(tmp_path / "mine")).name == "site"
    write(tmp_path / "mine", "other")
    with pytest.raises(UsageError, match=r"holds several profiles; name one of .*other\.yaml, .*site\.yaml"):
        find_profile(str(tmp_path / "mine"))


def test_a_directory_without_profiles_or_none_at_all(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"empty holds no profile; a profile is a \.yaml file"):
        find_profile(str(tmp_path / "empty"))
    assert len(list_profiles([tmp_path / "empty"])) == 4  # a place for profiles that has none yet
    with pytest.raises(UsageError, match="none: can't be listed: No such file or directory"):
        list_profiles([tmp_path / "none"])
    with pytest.raises(ProfileError, match="there is no such file"):
        find_profile(str(tmp_path / "none.yaml"))


def test_a_broken_file_in_a_directory_does_not_hide_in_a_list(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: bad\n")
    with pytest.raises(ProfileError, match=r"bad\.yaml:1: summary is missing"):
        list_profiles([tmp_path])
    assert find_profile("wan", [tmp_path]).name == "wan"


def test_an_include_is_the_base_and_the_own_rows_win_on_every_system(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(
        """\
name: site
summary: wan, with cubic everywhere and four streams
when: w
include: wan
inputs:
  streams: {type: count, default: 4, min: 1, max: 128, meaning: m}
settings:
  congestion_control: {rule: exact, value: cubic, reason: house rule, source: us}
os:
  linux:
    settings:
      input_backlog: null
"""
    )
    assert check_profile(str(path)) == []
    site = find_profile(str(path))
    for os in ("linux", "freebsd", "windows"):
        found = profile_targets(site, os=os, context=ProfileContext(), link=Link(1e9, 0.08), inputs={})
        by_name = {target.setting: target for target in found.targets}
        assert (by_name["congestion_control"].rule, by_name["congestion_control"].value) == ("exact", "cubic")
        assert "input_backlog" not in by_name
        assert by_name["window_scaling"].value is True
        expected = {"linux": 6_250_000, "freebsd": 5_000_000, "windows": 2_500_000}[os]  # 10 MB / 4
        assert by_name["recv_buffer_max"].value == expected


def test_includes_are_found_beside_the_file_and_the_later_one_wins(tmp_path: Path) -> None:
    for name, size in (("a", "64KiB"), ("b", "128KiB")):
        (tmp_path / f"{name}.yaml").write_text(
            f"name: {name}\nsummary: s\nwhen: w\nlet: {{size: {size}}}\nnotes: [{{text: from {name}}}]\n"
        )
    (tmp_path / "both.yaml").write_text(
        "name: both\nsummary: s\nwhen: w\ninclude: [a, ./b.yaml]\nsettings:\n"
        "  recv_buffer_max: {rule: exact, value: size, reason: r, source: s}\n"
    )
    both = find_profile(str(tmp_path / "both.yaml"))
    found = profile_targets(both, os="linux", context=ProfileContext(), link=None, inputs={})
    assert found.targets[0].value == 131_072
    assert found.notes == ("from a", "from b")


def test_includes_that_go_in_a_circle_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a", "include: b")
    write(tmp_path, "b", "include: c")
    write(tmp_path, "c", "include: a")
    with pytest.raises(ProfileError) as caught:
        find_profile(str(tmp_path / "a.yaml"))
    assert str(caught.value) == f"{tmp_path}/c.yaml:4: include: includes itself: a -> b -> c -> a"
    alone = write(tmp_path, "alone", "include: alone")
    with pytest.raises(ProfileError, match="includes itself: alone -> alone"):
        find_profile(str(alone))


def test_includes_end_somewhere(tmp_path: Path) -> None:
    for number in range(12):
        write(tmp_path, f"p{number}", f"include: p{number + 1}")
    with pytest.raises(ProfileError, match="includes go deeper than 8 files"):
        find_profile(str(tmp_path / "p0.yaml"))


def test_an_unknown_or_broken_include_names_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, "site", "include: wam")
    with pytest.raises(ProfileError) as caught:
        find_profile(str(path))
    assert str(caught.value) == f"{path}:4: include: unknown profile 'wam'; did you mean 'wan'?"
    (tmp_path / "bad.yaml").write_text("name: bad\nsummary: s\nwhen: w\nsettings:\n  sack: {rule: never}\n")
    write(tmp_path, "site", "include: bad")
    with pytest.raises(ProfileError, match=r"bad\.yaml:5: settings\.sack\.rule: unknown rule 'never'"):
        find_profile(str(path))


def test_libraries_are_imported_when_a_profile_is_read_and_no_sooner() -> None:
    script = (
        "import sys\n"
        "import hostcfg.profiles, hostcfg.render\n"
        "heavy = {'ruamel', 'simpleeval', 'msgspec', 'difflib', 'click', 'rich', 'paramiko', 'deepdiff'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
        "hostcfg.profiles.find_profile('lan')\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=TOP, capture_output=True, text=True, check=True
    )
    assert found.stdout.split("\n")[:2] == ["[]", "['ruamel']"]


def test_the_example_in_the_package_s_own_documentation_is_a_profile(tmp_path: Path) -> None:
    documentation = hostcfg.profiles.__doc__
    assert documentation is not None
    example = documentation.partition("::\n\n")[2].partition("\n\nInputs are")[0]
    (tmp_path / "site.yaml").write_text(example)
    assert [str(problem) for problem in check_profile(str(tmp_path / "site.yaml"))] == []


def test_the_link_is_set_apart_from_the_summary() -> None:
    heading = profile_blocks(describe_profile(find_profile("wan"), Link(1e9, 0.08), {}, "linux"))[0]
    assert isinstance(heading, Heading)
    assert heading.aside.endswith("pacing; for a link of 1 Gbit/s x 80 ms (BDP 10,000,000 bytes)")
