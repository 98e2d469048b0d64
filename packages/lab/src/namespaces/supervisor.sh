#!/bin/sh
# PID 1 of a lab, in its own mount, network and pid namespaces. The lab ends with it, and it exits when its stdin closes.
# Commands on stdin: net, disks, boot NAME. Events on stdout: ready PID, up NAME, down NAME CODE.
set -eu
script_dir=$1
lab=/run/lab

# All mounts of the lab are below this tmpfs in this namespace; the host's mount table does not change.
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

# Boots a node, and boots it again after a reboot, or after a power-off once the file "power" exists.
run_node() {
  node=$lab/nodes/$1
  while :; do
    read -r boot_id < /proc/sys/kernel/random/uuid
    echo "$boot_id" > "$node/boot_id"
    read -r uptime _ < /proc/uptime
    code=0
    nsenter --net=/run/netns/"$1" unshare --mount --uts --ipc --pid --fork --kill-child \
      --time --boottime "-${uptime%%.*}" --monotonic "-${uptime%%.*}" \
      /bin/sh "$script_dir/boot.sh" "$1" 3>&1 >> "$node/log" 2>&1 || code=$?
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

# The host's procfs is still mounted, so this is the pid in the host's namespace.
read -r pid _ < /proc/self/stat
echo "ready $pid"
while read -r command name; do
  case $command in
    net) ip -batch $lab/net && echo 'net-done' || echo 'net-failed' ;;
    disks) mount --all --fstab $lab/fstab && xargs mkdir -p < $lab/disk-dirs && echo 'disks-done' || echo 'disks-failed' ;;
    boot) run_node "$name" & ;;
  esac
done
