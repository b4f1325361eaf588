"""Which system a sysctl text comes from: names of keys that only one of them has.

The names are those of each kernel's sources; one name is one point, so that a single key that two
systems share decides nothing against many.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache, lru_cache

from hostcfg.lean import dataclass, regex
from hostcfg.platforms.bsd.values import OID

_MARKS = {
    "macos": """
        net.inet.tcp.autorcvbuf* net.inet.tcp.autosndbuf* net.inet.tcp.doauto???buf
        net.inet.tcp.win_scale_factor net.inet.tcp.sockthreshold net.inet.tcp.use_newreno
        net.inet.tcp.rfc3465_lim2 net.inet.tcp.fastopen_backlog net.inet.tcp.background*
        net.inet.tcp.ecn_* net.inet.tcp.aggressive_rcvwnd* net.inet.tcp.rledbat*
        net.inet.tcp.cubic_* net.inet.mptcp.* net.inet.ip.maxchainsent net.classq.* net.necp.*
        net.mptcp.* net.cfil.* net.qos.* net.soflow.* net.alf.* net.link.generic.system.*
        net.*.en[0-9]* net.smb.* kern.bootargs kern.ipc.njcl* kern.ipc.sbmb_* kern.ipc.mb_*
        kern.ipc.mleak* kern.timer.* kern.osproduct* kern.hv_support kern.memorystatus*
        kern.hibernate* hw.optional.* hw.memsize* hw.physicalcpu* hw.logicalcpu* hw.perflevel*
        hw.tbfrequency* hw.cpufrequency* hw.packages hw.l?*cachesize hw.cachesize hw.cputype
        hw.cpufamily machdep.cpu.* machdep.xcpm.* machdep.pmap.* machdep.user_idle* vm.compressor*
        vm.swapusage vm.swapfileprefix audit.* ktrace.* iogpu.* kperf.* apfs.* vfs.generic.*
        security.mac.amfi.* security.mac.sandbox.* security.mac.qtn.* security.mac.asp.*""",
    "freebsd": """
        net.inet.tcp.cc.* net.inet.tcp.functions_* net.inet.tcp.sendbuf_* net.inet.tcp.recvbuf_*
        net.inet.tcp.hostcache.* net.inet.tcp.syncache.* net.inet.tcp.hpts.* net.inet.tcp.bbr.*
        net.inet.tcp.rack.* net.inet.tcp.lro.* net.inet.tcp.bb.* net.inet.tcp.fastopen.*
        net.inet.tcp.delacktime net.inet.tcp.soreceive_stream net.inet.tcp.initcwnd_segments
        net.inet.tcp.sack.* net.inet.tcp.inflight.* net.inet.tcp.maxtcptw
        net.inet.tcp.nolocaltimewait net.inet.tcp.f*finwait2_* net.inet.tcp.abc_l_var
        net.inet.tcp.rexmit_* net.isr.* net.netlink.* net.route.netisr* net.link.lagg.*
        net.link.ifqmaxlen kern.ipc.soacceptqueue kern.ipc.nmbufs kern.ipc.nmbjumbo*
        kern.ipc.maxmbufmem kern.ipc.shm* kern.ipc.sem* kern.ipc.nsfbufs* kern.ipc.maxpipekva
        kern.ipc.num* kern.ipc.tls.* kern.osreldate kern.geom.* kern.cam.* kern.random.* kern.hz
        kern.sched.* kern.features.* kern.elf* kern.conftxt kern.vm_guest kern.mmapsync kern.ps_arg*
        kern.sugid_coredump vfs.zfs.* vfs.ufs.* vfs.ffs.* vfs.nfs* vfs.vmiodirenable vfs.read_max
        vm.uma.* vm.pmap.* vm.kmem* vm.stats.* security.jail.* security.bsd.* dev.* hw.ix.* hw.igb.*
        hw.em.* hw.cxgbe.* hw.mca.* hw.intrs hw.acpi.* hw.vtnet.* hw.busdma.* compat.ia32.*
        debug.witness.* debug.acpi.*""",
    "netbsd": """
        net.inet.tcp.congctl.* net.inet6.tcp6.congctl.* net.inet.tcp.init_win*
        net.inet.tcp.delack_ticks net.inet.tcp.mss_ifmtu net.inet.tcp.cwm* net.inet.tcp.rstppslimit
        net.inet.tcp.mslt.* kern.sbmax kern.mbuf.* kern.somaxkva kern.maxptys kern.rtc_offset
        kern.veriexec.* kern.entropy.* kern.sooptions kern.defcorename kern.module.* hw.disknames
        hw.iostat* hw.drivers proc.* security.pax.* security.models.* security.curtain""",
    "openbsd": """
        kern.maxclusters kern.bufcachepercent kern.osrevision kern.netlivelocks kern.pool_debug
        kern.splassert kern.nosuidcoredump kern.wxabort kern.audio.* kern.video.* kern.allowkmem
        kern.allowdt kern.somaxconn kern.sominconn vm.swapencrypt.* vm.malloc_conf ddb.*
        machdep.allowaperture machdep.kbdreset machdep.lidaction machdep.lidsuspend
        machdep.pwraction net.pflow.* net.pipex.* net.mpls.* net.inet.tcp.synbucketlimit
        net.inet.tcp.synhashsize net.inet.tcp.baddynamic net.inet.tcp.rootonly
        net.inet.tcp.reasslimit net.inet.tcp.sackholelimit net.inet.ip.mtudisc*
        net.inet.ip.arpqueued net.inet.gre.* net.inet.etherip.* net.inet.carp.* net.inet.ipcomp.*
        hw.sensors.* hw.setperf hw.perfpolicy hw.allowpowerdown hw.smt hw.blockcpu hw.vendor
        hw.product hw.diskcount""",
    "dragonfly": """
        kern.ipc.nmbjclusters lwkt.* jail.* vfs.hammer.* vfs.hammer2.* net.netisr.* kern.usched_*
        net.inet.tcp.ncr net.inet.tcp.eifel net.inet.tcp.limitedtransmit net.inet.tcp.sosend_*""",
}
_SHARED_BUFFERS = regex(r"net\.inet\.tcp\.(?:send|recv)buf_(?:auto|inc|max)")

_LINE = regex(
    rf"^[ \t]{{0,64}}(?P<name>{OID})[ \t]{{0,64}}(?P<separator>[:=])(?![^\n]{{0,400}};[ \t]{{0,8}}$)",
    re.MULTILINE,
)
_NAME = regex(rf"(?<![\w.]){OID}")
_LINUX_NAME = (
    r"(?:net[./](?:ipv4|ipv6|core|netfilter|bridge|unix|mptcp)|kernel|fs|abi|sunrpc|crypto)[./][\w./-]+"
)
_LINUX_LINE = regex(rf"^[ \t]{{0,64}}{_LINUX_NAME}[ \t]{{0,64}}=", re.MULTILINE)
LINUX_CALL = regex(rf"\bsysctl\b[^\n]{{0,200}}[ \"']{_LINUX_NAME}")
"""sysctl(8) called with a name that only Linux has."""
_LISTED = regex(r"[a-z][a-z0-9_-]{0,60}(?:\.[\w%+@,-]{1,100}){2,12}: \S*(?: -?\d+)*")
"""A line as sysctl(8) prints it, of whatever first level: a module may bring its own."""
_LISTED_LEAST = 3
_BESIDE = regex(r"\s*(?:#.*|\$ .*|==> .*|\S*sysctl: .*|\w{3,6} level name .*|[0-9].*)?")
"""What stands beside settings: comments, calls, headers, complaints, and the rows of tables of numbers."""
TABLE_ROW = regex(rf"^\|?\s?`?{OID}`?\s?\|[^|]*\|", re.MULTILINE)
"""``| net.inet.tcp.tso | integer | 1 | ...``"""
_LONG_VALUE = regex(
    r"^(?:kern\.(?:conftxt|msgbuf|geom\.conf\w+|sched\.topology_spec)|hw\.intrs)\s?[:=]", re.MULTILINE
)
_PLAIN = regex(r"[^:=]{1,200}[:=]\s{0,16}(?:\S*(?:[\s,]+-?\d+)*|\".*|.* -> .*|[^#]*#.*)\s*|.*\|.*")
"""A setting of one word, of numbers, in quotes, changed, with a comment, or a row of a table."""
_PROSE_SCAN, _PROSE_SHARE, _MAIL_LINES, _FEW_LINES = 1 << 16, 4, 20, 4
_OSTYPE = regex(r"kern\.ostype\s{0,8}[:=]\s{0,8}(\w+)")
_OSTYPES = {
    "Darwin": "macos",
    "NetBSD": "netbsd",
    "OpenBSD": "openbsd",
    "DragonFly": "dragonfly",
    "FreeBSD": "freebsd",
}
_WEAK = regex(
    r"kern\.ipc\.maxsockbuf: (?:4194304|6291456|8388608)\b|kern\.ipc\.nmbclusters: (?:32768|65536)\b"
    r"|[Rr]esult too large|sysctl -w kern\.ipc"
)
"""macOS's stock values, errno text and habit: they tip the balance where no key does."""

_SCAN = 1 << 20


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a text looks: lines that are settings, how many use ``=``, Linux's, and each system's points."""

    lines: int
    equals: int
    linux: int
    points: dict[str, float]
    is_prose: bool = False  # more than a mail's words between the settings
    printed: bool = False  # nothing but lines of sysctl(8)'s form, whatever their names

    @property
    def likely(self) -> str:
        """The system with the most points; ``freebsd`` where nothing decides."""
        best = max(self.points.values())
        return next((os for os, points in self.points.items() if points == best > 0), "freebsd")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """One pattern for each system, compiled when it is first needed: start-up does not pay for it."""
    return {
        os: re.compile("|".join(translate(mark) for mark in marks.split())) for os, marks in _MARKS.items()
    }


@lru_cache(maxsize=16)
def evidence(text: str) -> Evidence:
    """What the keys in ``text`` (its first MiB) say about where it comes from."""
    text = text[:_SCAN]
    found = list(_LINE.finditer(text))
    names = {match["name"] for match in found} | {match[0] for match in _NAME.finditer(text[:65536])}
    points = {os: float(sum(1 for n in names if p.fullmatch(n))) for os, p in _patterns().items()}
    if points["netbsd"]:
        points["freebsd"] -= sum(1 for name in names if _SHARED_BUFFERS.fullmatch(name))
    named = _OSTYPE.search(text)
    if named is not None and named[1] in _OSTYPES:
        points[_OSTYPES[named[1]]] += 1000
    points["macos"] += 0.4 * sum(1 for _ in _WEAK.finditer(text[:65536]))
    equals = sum(1 for match in found if match["separator"] == "=")
    linux = sum(1 for pattern in (_LINUX_LINE, LINUX_CALL) for _ in pattern.finditer(text))
    return Evidence(len(found), equals, linux, points, _is_prose(text), not found and _is_listing(text))


def _is_prose(text: str) -> bool:
    """Whether few lines are settings beside words: random ones hold a name and a colon too."""
    if _LONG_VALUE.search(text):
        return False
    settings = plain = others = 0
    for line in text[:_PROSE_SCAN].splitlines():
        if _LINE.match(line) or TABLE_ROW.match(line) or _LISTED.fullmatch(line):
            settings += 1
            plain += _PLAIN.fullmatch(line) is not None
        elif not _BESIDE.fullmatch(line):
            others += 1
    if settings and not plain:
        return others > _FEW_LINES
    return others > _MAIL_LINES and settings * _PROSE_SHARE < others


def _is_listing(text: str) -> bool:
    """Whether every line is of the form; the beginning of a long text tells."""
    lines = [line for line in text[:_PROSE_SCAN].split("\n") if line.strip()]
    whole = lines if text.endswith("\n") and len(text) <= _PROSE_SCAN else lines[:-1]  # the last may be cut
    return len(whole) >= _LISTED_LEAST and all(_LISTED.fullmatch(line.rstrip()) for line in whole)
