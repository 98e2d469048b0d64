#!/bin/sh
# PID 1 of one node, from its fresh namespaces to its own root. What is mounted where stands in the node's fstab.
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
# A shell starts its background jobs deaf to SIGINT and SIGQUIT, which every session of the node would inherit.
# The node's root must not set the host's clock, load modules or make device nodes.
exec env --default-signal=INT,QUIT setpriv --bounding-set=-sys_time,-sys_module,-sys_rawio,-mknod /usr/lib/lab/init "$1"
