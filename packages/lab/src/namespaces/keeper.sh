#!/bin/sh
# PID 1 of one lab, in its own mount, network and pid namespaces: the whole lab dies with it, and it dies with whoever
# holds its stdin. Verbs come on stdin (net, disks, boot NAME); news goes to stdout (ready PID, up NAME, down NAME CODE).
set -eu
here=$1
lab=/run/lab

# Everything the lab mounts lies on this tmpfs, in this namespace; the host's mount table never changes.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns $lab/base $lab/mask $lab/nodes $lab/dev/pts $lab/dev/shm
for device in null zero full random urandom tty; do
  : > $lab/dev/$device
  mount --bind /dev/$device $lab/dev/$device
done
ln -s pts/ptmx $lab/dev/ptmx
ln -s /proc/self/fd $lab/dev/fd
ln -s /proc/self/fd/0 $lab/dev/stdin
ln -s /proc/self/fd/1 $lab/dev/stdout
ln -s /proc/self/fd/2 $lab/dev/stderr
mknod $lab/mask/.whiteout c 0 0

# One node's power supply: boots it, and boots it again after a reboot (SIGHUP) or, when told, a power-off (SIGINT).
supply() {
  node=$lab/nodes/$1
  while :; do
    read -r boot_id < /proc/sys/kernel/random/uuid
    echo "$boot_id" > "$node/boot_id"
    read -r uptime _ < /proc/uptime
    code=0
    nsenter --net=/run/netns/"$1" unshare --mount --uts --ipc --pid --fork --kill-child \
      --time --boottime "-${uptime%%.*}" --monotonic "-${uptime%%.*}" \
      /bin/sh "$here/boot.sh" "$1" 3>&1 >> "$node/log" 2>&1 || code=$?
    echo "down $1 $code"
    case $code in
      129)
        [ ! -s "$node/hold" ] || sleep "$(cat "$node/hold")"
        rm -f "$node/hold"
        ;;
      130)
        until [ -e "$node/power" ]; do sleep 0.1; done
        rm -f "$node/power"
        ;;
      *) return ;;
    esac
  done
}

# With the host's procfs mounted, this process reads its pid as the host knows it.
read -r pid _ < /proc/self/stat
echo "ready $pid"
while read -r verb name; do
  case $verb in
    net) ip -batch $lab/net && echo 'net-done' || echo 'net-failed' ;;
    disks) mount --all --fstab $lab/fstab && xargs mkdir -p < $lab/disk-dirs && echo 'disks-done' || echo 'disks-failed' ;;
    boot) supply "$name" & ;;
  esac
done
