#!/bin/sh
# Called by udhcpc with the event; the lease is in the environment.
[ "$1" = bound ] || [ "$1" = renew ] || exit 0
ip addr flush dev "$interface"
ip addr add "$ip/$mask" dev "$interface"
[ -z "$router" ] || ip route add default via "${router%% *}" dev "$interface"
