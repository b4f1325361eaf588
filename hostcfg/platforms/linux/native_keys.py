"""The forms of Linux's native keys, as data: which hold several integers, words or lines.

Those that hold one integer are in :mod:`hostcfg.platforms.linux.native_integers`.

Sources: Documentation/networking/ip-sysctl.rst, nf_conntrack-sysctl.rst and
Documentation/admin-guide/sysctl/{net,kernel,vm,fs,user}.rst of Linux 6.1, and ``sysctl -a`` of
4.9, 4.18, 5.4, 5.10, 6.1, 6.18 and 7.2.  A key counts as an integer only if the documentation says
so or each of these kernels printed one; bitmaps and masks in hex (``flow_limit_cpu_bitmap``) are
text.  :mod:`hostcfg.platforms.linux.native` gives this table its meaning.
"""

from __future__ import annotations


def _keys(names: str) -> frozenset[str]:
    return frozenset(names.split())


# The first part of a key: the directories of /proc/sys in any kernel, so that the tail of a cut line
# ("ore.rmem_max = 1") is no key.
ROOTS = _keys(
    "abi appldata bus cachefiles crypto debug dev fs fscache kernel lnet lustre net proc reiserfs s390dbf "
    "sunrpc user vm"
)

# Key -> how many integers it holds; None where that depends on the machine (one for each memory zone).
VECTORS: dict[str, int | None] = {
    "fs.dentry-state": 6,
    "fs.file-nr": 3,
    "fs.inode-nr": 2,
    "fs.inode-state": 7,
    "kernel.acct": 3,
    "kernel.printk": 4,
    "kernel.sem": 4,
    "kernel.usermodehelper.bset": 2,
    "kernel.usermodehelper.inheritable": 2,
    "net.ipv4.ip_local_port_range": 2,
    "net.ipv4.ping_group_range": 2,
    "net.ipv4.tcp_mem": 3,
    "net.ipv4.tcp_rmem": 3,
    "net.ipv4.tcp_wmem": 3,
    "net.ipv4.udp_mem": 3,
    "net.ipv4.vs.sync_threshold": 2,
    "net.sctp.sctp_mem": 3,
    "net.sctp.sctp_rmem": 3,
    "net.sctp.sctp_wmem": 3,
    "net.tipc.tipc_rmem": 3,
    "vm.lowmem_reserve_ratio": None,
}

# Keys that hold exactly one word.
WORD = _keys(
    "kernel.arch kernel.osrelease kernel.ostype kernel.printk_devkmsg net.core.default_qdisc "
    "net.ipv4.tcp_congestion_control net.mptcp.path_manager net.mptcp.scheduler "
    "net.sctp.cookie_hmac_alg"
)

# Keys that hold any number of words, none included.
WORDS = _keys(
    "kernel.seccomp.actions_avail kernel.seccomp.actions_logged "
    "net.ipv4.tcp_allowed_congestion_control net.ipv4.tcp_available_congestion_control "
    "net.ipv4.tcp_available_ulp net.mptcp.available_path_managers net.mptcp.available_schedulers"
)

# Keys whose value has several lines; sysctl repeats the key in front of each.
LINES = _keys("dev.cdrom.info kernel.core_modes sunrpc.transports")

# Mode 0600 (fs.protected_* to 5.10, the others still): denied to a user who only reads.
ROOT_ONLY = _keys(
    "fs.protected_fifos fs.protected_hardlinks fs.protected_regular fs.protected_symlinks "
    "kernel.apparmor_display_secid_mode kernel.cad_pid kernel.unprivileged_userns_apparmor_policy "
    "kernel.usermodehelper.bset kernel.usermodehelper.inheritable net.core.bpf_jit_harden "
    "net.core.bpf_jit_kallsyms net.core.bpf_jit_limit net.ipv4.tcp_fastopen_key vm.mmap_rnd_bits "
    "vm.mmap_rnd_compat_bits"
)

# Mode 0200: a write does something, a read gives nothing.
WRITE_ONLY = _keys("net.ipv4.route.flush net.ipv6.route.flush vm.compact_memory vm.stat_refresh")

# Counters and identities of the moment: they differ at each reading and between any two hosts.
VOLATILE = _keys(
    "fs.aio-nr fs.dentry-state fs.file-nr fs.inode-nr fs.inode-state kernel.domainname "
    "kernel.hostname kernel.hung_task_detect_count kernel.ns_last_pid kernel.pty.nr "
    "kernel.random.boot_id kernel.random.entropy_avail kernel.random.uuid net.core.netdev_rss_key "
    "net.netfilter.nf_conntrack_count"
)
