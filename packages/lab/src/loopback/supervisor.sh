#!/bin/sh
# Supervises the sshd processes of a lab without root. Exits, and kills them, when its stdin closes. Command: boot DIRECTORY.
set -u
sshd=$1

# Restarts a node's sshd whenever it exits, except while the file "hold" exists.
run_node() {
  while [ -d "$1" ]; do
    if [ -e "$1/hold" ]; then
      sleep 0.1
      continue
    fi
    # The pid on the host; in a pid namespace it differs from $$.
    /bin/sh -c 'pid=$$; [ ! -r /proc/self/stat ] || read -r pid _ < /proc/self/stat; echo "$pid" > "$1/pid"; exec "$2" -D -f "$1/sshd_config" -E "$1/log"' \
      node "$1" "$sshd"
    sleep 0.1
  done
}

pid=$$
[ ! -r /proc/self/stat ] || read -r pid _ < /proc/self/stat
echo "ready $pid"
while read -r _ directory; do
  run_node "$directory" > /dev/null 2>&1 &
done
kill -KILL 0
