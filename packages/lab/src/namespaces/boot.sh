#!/bin/sh
# PID 1 of a node while it boots: mounts the node's fstab in new namespaces and pivots to its root.
set -eu
node=/run/lab/nodes/$1
read -r pid _ < /proc/self/stat
echo "$pid" > "$node/pid"
echo "$1" > /proc/sys/kernel/hostname
ip -force -batch "$node/net" 2> /dev/null || true
mount --all --fstab "$node/fstab"
cd "$node/root"
mkdir -p run/sshd run/lock
pivot_root . mnt
cd /
umount --lazy /mnt
# A shell's background jobs ignore SIGINT and SIGQUIT; sessions of the node must not inherit that.
# The node's root must not set the host's clock, load modules or create device nodes.
exec env --default-signal=INT,QUIT setpriv --bounding-set=-sys_time,-sys_module,-sys_rawio,-mknod /usr/lib/lab/init "$1"
