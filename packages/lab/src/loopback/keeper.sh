#!/bin/sh
# Keeps the sshd processes of a lab without root; they end with it, and it ends with its stdin. Verb: boot DIRECTORY.
set -u
sshd=$1

# One node: an sshd that comes back whenever it ends, unless a file "hold" says to wait.
supply() {
  while [ -d "$1" ]; do
    if [ -e "$1/hold" ]; then
      sleep 0.1
      continue
    fi
    # The pid as the host counts, which in a pid namespace is not the one the shell knows.
    /bin/sh -c 'pid=$$; [ ! -r /proc/self/stat ] || read -r pid _ < /proc/self/stat; echo "$pid" > "$1/pid"; exec "$2" -D -f "$1/sshd_config" -E "$1/log"' \
      node "$1" "$sshd"
    sleep 0.1
  done
}

pid=$$
[ ! -r /proc/self/stat ] || read -r pid _ < /proc/self/stat
echo "ready $pid"
while read -r _ directory; do
  supply "$directory" > /dev/null 2>&1 &
done
kill -KILL 0
