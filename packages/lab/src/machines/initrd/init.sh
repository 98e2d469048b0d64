#!/bin/sh
# PID 1 of a lab machine. It configures the network with DHCP and the machine with NoCloud data, and runs sshd.
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts /run /tmp
mount -t devpts devpts /dev/pts
while read -r module; do insmod "/modules/$module"; done < /modules/order

# The disk holds the host key: a machine keeps it when it boots from the network again.
tar -x -f /dev/vda -C /etc/dropbear 2> /dev/null
if [ ! -s /etc/dropbear/key ]; then
  dropbearkey -t ed25519 -f /etc/dropbear/key > /dev/null 2>&1
  tar -c -f /dev/vda -C /etc/dropbear key
fi

ip link set lo up
ip link set eth0 up
until udhcpc -i eth0 -q -n -f -s /bin/configure-network; do :; done
sh /bin/apply-cloud-init
# Without -R: the key exists. Passwords cannot be used to log in.
dropbear -E -s -r /etc/dropbear/key
# Printed, so that it can be compared with the offered key.
echo "muster-lab: host key $(dropbearkey -y -f /etc/dropbear/key | sed -n 's/^Fingerprint: //p')"
echo "muster-lab: $(hostname) is up"
while :; do wait; sleep 3600; done
