#!/bin/sh
# PID 1 of a running node. Its exit ends every process of the node: 129 asks for a reboot, 130 for power-off.
trap 'exit 129' HUP
trap 'exit 130' INT
cd /
# An sshd that cannot start ends the boot, and its words stand in the node's log.
/usr/sbin/sshd $(cat /usr/lib/lab/sshd-options) 3>&- || exit 1
until [ -s /run/sshd.pid ]; do sleep 0.01; done
[ ! -x /etc/rc.local ] || /etc/rc.local > /var/log/rc.local.log 2>&1 3>&- &
# The mark by which packages and Ansible know systemd; see systemctl.py beside this file.
mkdir -p /run/systemd/system
[ ! -d /etc/systemd/system/multi-user.target.wants ] || systemctl default 3>&- || true
echo "up $1" >&3
exec 3>&-
# Waiting for one long sleeper also reaps every orphan of the node without polling.
while :; do
  sleep 2147483647 &
  wait $!
done
