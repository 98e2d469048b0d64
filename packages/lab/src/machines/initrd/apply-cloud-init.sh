#!/bin/sh
# The part of cloud-init that a lab machine needs: host name, users with SSH keys, and phone_home. It reads only the YAML that Muster
# writes. cloud-init itself needs Python.
parameter() { sed -n "s/^\(.* \)\{0,1\}$1\([^ ]*\).*$/\2/p" /proc/cmdline; }
# A form field.
encoded() { sed -e 's/%/%25/g' -e 's/+/%2B/g' -e 's/&/%26/g' -e 's/=/%3D/g' -e 's/ /%20/g'; }

seed=$(parameter 'ds=nocloud-net;s=')
[ -n "$seed" ] || { echo 'muster-lab: the kernel parameters name no NoCloud data'; exit 0; }
for file in meta-data user-data vendor-data; do
  until wget -q -O "/run/$file" "$seed$file"; do sleep 1; done
done
field() { sed -n "s/^$1: *//p" /run/meta-data; }
name=$(field local-hostname)
hostname "$name"
echo "$name" > /etc/hostname

id=1000
awk '
  /^[^ ]/ { users = ($0 == "users:"); keys = 0 }
  users && /^  - name: / { user = $3; print "user " user; keys = 0 }
  users && /^    [a-z_]+:/ { keys = ($1 == "ssh_authorized_keys:") }
  users && keys && /^ *- ssh-/ { sub(/^ *- /, ""); print "key " user " " $0 }
' /run/user-data | while read -r kind user key; do
  home=/home/$user
  case $kind in
    user)
      id=$((id + 1))
      echo "$user:x:$id:$id::$home:/bin/bash" >> /etc/passwd
      echo "$user:x:$id:" >> /etc/group
      mkdir -p "$home/.ssh"
      chmod 700 "$home" "$home/.ssh"
      chown -R "$id:$id" "$home"
      ;;
    key)
      echo "$key" >> "$home/.ssh/authorized_keys"
      chown "$id:$id" "$home/.ssh/authorized_keys"
      chmod 600 "$home/.ssh/authorized_keys"
      ;;
  esac
done

url=$(sed -n '/^phone_home:/,$s/^  url: //p' /run/user-data)
[ -n "$url" ] || { echo 'muster-lab: the user-data has no phone_home'; exit 0; }
key=$(dropbearkey -y -f /etc/dropbear/key | grep '^ssh-ed25519' | encoded)
body="pub_key_ed25519=$key&instance_id=$(field instance-id | encoded)&hostname=$name"
for _ in 1 2 3 4 5; do
  wget -q -O /run/phone-home --post-data "$body" "$url" && break
  sleep 1
done
