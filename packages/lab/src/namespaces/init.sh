#!/bin/sh
# PID 1 of a running node. Its exit ends every process of the node; code 129 requests a reboot, 130 a power-off.
trap 'exit 129' HUP
trap 'exit 130' INT
cd /
# If sshd cannot start, the boot fails with its message in the node's log.
/usr/sbin/sshd $(cat /usr/lib/lab/sshd-options) 3>&- || exit 1
until [ -s /run/sshd.pid ]; do sleep 0.01; done
[ ! -x /etc/rc.local ] || /etc/rc.local > /var/log/rc.local.log 2>&1 3>&- &
# Packages and Ansible detect systemd by this folder; see systemctl.py.
mkdir -p /run/systemd/system
[ ! -d /etc/systemd/system/multi-user.target.wants ] || systemctl default 3>&- || true
echo "up $1" >&3
exec 3>&-
# Waiting for a long sleep also reaps the node's orphans without polling.
while :; do
  sleep 2147483647 &
  wait $!
done
