# Turns the folder $1 into the root of this mount namespace.  $2 is Python's prefix, $3 the tests' folder,
# $4 a folder that is seen inside under the same path, $5 the host name.
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount --bind /usr "$1/emu/usr"
mount -o remount,ro,bind "$1/emu/usr"
mount --bind "$2" "$1/emu/python"
mount -o remount,ro,bind "$1/emu/python"
mount --bind "$3" "$1/emu/source/tests"
mount -o remount,ro,bind "$1/emu/source/tests"
mount --bind "$4" "$1$4"
for f in null zero full random urandom; do
	: >"$1/dev/$f"
	mount --bind "/dev/$f" "$1/dev/$f"
done
mount -t proc proc "$1/emu/proc"
hostname "$5"
cd "$1"
pivot_root . emu/old
# umount(8) wants /proc, which FreeBSD has not; 2 is MNT_DETACH
/emu/interpreter -IS -c 'import ctypes; ctypes.CDLL(None).umount2(b"/emu/old", 2) and exit(1)'
echo ready
# the first process takes in what others leave behind, as init(8) does
while :; do /bin/sleep 1000; done
