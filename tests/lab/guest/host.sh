# What both kinds of host do once their file systems and interfaces are there.  Sourced; POSIX sh.

host_up() {  # SIDE
    side=$1
    # nothing below may reach the machine's own /etc
    grep -q '^overlay /\(etc\)\? ' /proc/mounts || exit 1
    hostname "$side"
    echo "$side" > /etc/hostname
    printf '127.0.0.1 localhost\n192.0.2.2 a\n192.0.2.3 b\n' > /etc/hosts
    # each host is a machine of its own, with a stock /etc for the tool under test to change
    tr -d - < /proc/sys/kernel/random/uuid > /etc/machine-id
    rm -rf /etc/sysctl.d /etc/sysctl.conf /etc/ssh
    mkdir -p /etc/sysctl.d /etc/ssh
    : > /etc/sysctl.conf
    cp /run/lab/hostkey.pub /etc/ssh/ssh_host_ed25519_key.pub
    sh /run/guest/serve
    /usr/sbin/sshd -D -e -f /run/lab/sshd_config > /run/lab/sshd.log 2>&1 &
    echo up > /run/lab/ready
}
