# One look at a node: operating system, hardware, and what the vendors' tools print. POSIX sh (dash, bash, busybox ash), no
# Python, no temporary files, nothing left running. `probe-command.ts` puts the settings in front of it and sends it by stdin.
#
# Output: `muster-probe/1 NONCE`, then frames `NONCE + NAME`, body, `NONCE - key=value ...`, and at the end `NONCE end`. The nonce
# is unknown to the tools, so that no output of theirs can close a frame or open another. `frames.ts` reads it back.
#
# Forks are what costs here: /proc and /sys are read by builtins, by ONE grep (which puts the path before each line) and ONE ls.

# Runs "$@" in a session of its own, whose number is the process group of all that it starts. $1 = seconds, $2 = bytes of output.
# The last line of the output is `:EXITCODE`. SIGTERM spares the shells and head, so that the partial output of a tool that is
# stopped arrives; SIGKILL follows for what ignores it. A tool stuck in the kernel cannot be killed at all: it does not hold our
# pipe, so we go on without it.
IN_SESSION='read -r a b c d group e </proc/$$/stat; [ "$group" = "$$" ] || exit 97
trap "" TERM; seconds=$1 bytes=$2; shift 2
{ sleep "$seconds"; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null 2>&1 &
{ (trap - TERM; exec "$@" 2>&1); printf "\n:%s" "$?"; kill -TERM 0; } | head -c "$bytes"
kill -KILL 0'
# The same for a node without setsid: timeout ends the tool's process group.
IN_TIMEOUT='seconds=$1 bytes=$2; shift 2; { timeout -s KILL "$seconds" "$@" 2>&1; printf "\n:%s" "$?"; } | head -c "$bytes"'

# NOW in hundredths of a second since boot.
now() {
  read -r up rest </proc/uptime
  NOW=$((${up%.*} * 100 + 1${up#*.} - 100))
}

# frame NAME BODY
frame() { printf '%s + %s\n%.262144s\n%s -\n' "$nonce" "$1" "$2" "$nonce"; }

# call TOOL PATH ARG...: one bounded call; its frame goes to BUF, its output to OUT. False when it failed or there was no time left.
call() {
  tool=$1 path=$2
  shift 2
  args=" $*"
  [ "$tool" = system ] && args=
  now
  left=$(((deadline - NOW + 99) / 100))
  if [ "$left" -le 0 ] || [ "$room" -le 0 ]; then
    OUT=
    BUF="$BUF$nonce + tool $tool$args$NL$NL$nonce - skipped=1$NL"
    return 1
  fi
  from=$NOW
  OUT=$(MUSTER_PROBE=$mark $session sh -c "$runner" muster-probe "$left" "$room" "$path" "$@" 2>/dev/null)
  now
  flags=
  [ "$NOW" -ge $((from + left * 100)) ] && flags=' timeout=1'
  [ "${#OUT}" -ge "$room" ] && flags="$flags cut=1"
  BUF="$BUF$nonce + tool $tool$args$NL$OUT$NL$nonce - ms=$(((NOW - from) * 10))$flags$NL"
  room=$((room - ${#OUT}))
  case $OUT in *"$NL:0") return 0 ;; esac
  return 1
}

nvidia() {
  call nvidia-smi "$nvidia_smi" -q -x
  case $OUT in
  *'<nvidia_smi_log'*'</gpu>'*)
    xml=$OUT
    call nvidia-smi "$nvidia_smi" --query-gpu=index,uuid,pci.bus_id,compute_cap,mig.mode.current --format=csv,noheader,nounits
    # MIG devices have their uuid in -L alone.
    case $xml in *'<mig_device>'*) call nvidia-smi "$nvidia_smi" -L ;; esac
    case $xml in *'</gpu>'*'</gpu>'*) call nvidia-smi "$nvidia_smi" topo -m ;; esac
    ;;
  *NVML* | *"couldn't communicate"* | *'No devices were found'*) ;; # a broken driver: the other calls would say the same
  *)
    call nvidia-smi "$nvidia_smi"
    case $OUT in *NVML* | *"couldn't communicate"* | *'No devices were found'*) return ;; esac
    call nvidia-smi "$nvidia_smi" --query-gpu=index,name,uuid,serial,pci.bus_id,memory.total,memory.used,driver_version,vbios_version,temperature.gpu,power.draw,power.limit,utilization.gpu,ecc.mode.current,mig.mode.current --format=csv,noheader,nounits
    call nvidia-smi "$nvidia_smi" -L
    ;;
  esac
}

amd() {
  found=
  if [ -n "$amd_smi" ]; then
    call amd-smi "$amd_smi" static --json
    case $OUT in *'"gpu"'*) found=1 ;; esac
    case $found$OUT in 1* | *'['* | *'{'*)
      call amd-smi "$amd_smi" list --json
      call amd-smi "$amd_smi" metric --json
      call amd-smi "$amd_smi" version
      call amd-smi "$amd_smi" topology --json
      ;;
    esac
  fi
  if [ -z "$found" ] && [ -n "$rocm_smi" ]; then
    call rocm-smi "$rocm_smi" --showid --showproductname --showuniqueid --showserial --showbus --showmeminfo vram --showuse --showpower --showtemp --showdriverversion --showvbios --json
    # In a call of their own: releases that do not know them refuse the whole call.
    call rocm-smi "$rocm_smi" --showcomputepartition --showmemorypartition --json
  fi
}

intel() {
  call xpu-smi "$xpu_smi" discovery -j
  case $OUT in
  *'"device_id"'*) ;;
  *'"device_list"'* | *'No device'*) return ;;
  *) call xpu-smi "$xpu_smi"; return ;;
  esac
  rest=$OUT ids=
  while case $rest in *'"device_id"'*) ;; *) false ;; esac do
    rest=${rest#*'"device_id"'}
    id=${rest#*:}
    id=${id%%[,\}]*}
    id=${id#"${id%%[0-9]*}"}
    id=${id%%[!0-9]*}
    [ -n "$id" ] && ids="$ids $id"
  done
  for id in $ids; do call xpu-smi "$xpu_smi" discovery -d "$id" -j || [ -n "$OUT" ] || return; done
  call xpu-smi "$xpu_smi" health -l -j
  for id in $ids; do call xpu-smi "$xpu_smi" stats -d "$id" -j || [ -n "$OUT" ] || return; done
  call xpu-smi "$xpu_smi" topology -m
  call xpu-smi "$xpu_smi" -v
}

huawei() {
  lib=/usr/local/Ascend/driver/lib64
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$lib:$lib/driver:$lib/common
  export LD_LIBRARY_PATH
  call npu-smi "$npu_smi" info || [ "${#OUT}" -gt 400 ] || return
  call npu-smi "$npu_smi" info -m
  call npu-smi "$npu_smi" info -l
  # `NPU ID : 3` begins a card, `Chip Count : 2` says how many chips it has.
  id='' pairs='' cards='' serials=1
  case $OUT in *'Serial Number'*) ;; *) serials= ;; esac
  set -f
  # shellcheck disable=SC2086
  set -- $OUT
  set +f
  while [ $# -gt 3 ]; do
    case "$1 $2 $3" in
    'NPU ID :') id=$4 cards="$cards $4" ;;
    'Chip Count :') [ -n "$id" ] && case $4 in 1 | 2 | 3 | 4) chip=0; while [ "$chip" -lt "$4" ]; do pairs="$pairs $id/$chip"; chip=$((chip + 1)); done ;; esac ;;
    esac
    shift
  done
  for id in $pairs; do call npu-smi "$npu_smi" info -t board -i "${id%/*}" -c "${id#*/}" || [ -n "$OUT" ] || return; done
  # 950 has one chip per card, counts none and takes no -c; the list of A3 has no serials: there the card is asked.
  [ -n "$serials" ] && [ -n "$pairs" ] || for id in $cards; do call npu-smi "$npu_smi" info -t board -i "$id" || [ -n "$OUT" ] || return; done
  for id in $cards; do call npu-smi "$npu_smi" info -t ecc -i "$id" || [ -n "$OUT" ] || return; done
  set -- "$root"/dev/vdavinci*
  [ -e "$1" ] || pairs=
  for id in $pairs; do call npu-smi "$npu_smi" info -t info-vnpu -i "${id%/*}" -c "${id#*/}" || [ -n "$OUT" ] || return; done
  call npu-smi "$npu_smi" info -t topo
}

thead() {
  call ppu-smi "$ppu_smi" -q
  many=$OUT
  # A driver that is not there: the other calls would say the same.
  case $OUT in *'Product Name'*) ;; *'/dev/alixpu'* | *'shared libraries'*) return ;; esac
  fields=index,name,serial,uuid,pci.bus_id,driver_version,memory.total,memory.used
  call ppu-smi "$ppu_smi" --query-ppu=$fields --format=csv || call ppu-smi "$ppu_smi" --query-gpu=$fields --format=csv
  case $many in *'Product Name'*) ;; *) call ppu-smi "$ppu_smi" ;; esac
  call ppu-smi "$ppu_smi" -L
  case $many in *'Product Name'*'Product Name'*) call ppu-smi "$ppu_smi" topo -m ;; esac
}

# What takes a program to find out, under one clock: df and python can hang. Network file systems are listed, never measured.
system() {
  call system sh -c 'echo @addresses; ip -o addr show 2>/dev/null | head -n 200
echo @hosts; grep -swF -m 8 -e "$1" /etc/hosts
echo @python; for p in /usr/bin/python3 python3 /usr/libexec/platform-python; do p=$(command -v "$p") && echo "$p $("$p" -V 2>&1)" && break; done
echo @nvcc; [ -n "$2" ] && "$2" --version
echo @mounts
mounts=$(grep -E "^/dev/| / | (zfs|nfs4?|lustre|gpfs|beegfs|ceph|cifs|wekafs|fuse[.][^ ]+) " /proc/self/mounts | head -n 200)
echo "$mounts"
echo @df
set -f; seen=" "; places=
while read -r device place type rest; do
  case $place in *\\*) continue ;; esac
  case $type in nfs* | lustre | gpfs | beegfs | ceph | cifs | wekafs | fuse*) continue ;; esac
  case $seen in *" $device "*) [ "$place" = / ] || continue ;; esac
  seen="$seen$device "; places="$places $place"
done <<MOUNTS
$mounts
MOUNTS
df -kP $places 2>/dev/null' sh "${hostname:-localhost}" "$nvcc"
}

# stage NAME: runs one vendor's calls, then passes on the frames of the stages before it (stdin) and its own. Stages run side by
# side, each with its own clock.
stage() {
  BUF='' room=$tool_bytes
  now
  seconds=$tool_seconds
  [ "$1" = system ] && seconds=$system_seconds
  deadline=$((NOW + seconds * 100))
  "$1"
  [ "$1" = "$first_stage" ] || cat
  printf '%s' "$BUF"
}

# stages NAME...: a pipeline of them.
stages() {
  if [ $# -eq 1 ]; then
    stage "$1"
  else
    head=$1
    shift
    stage "$head" | stages "$@"
  fi
}

# Ends what a tool started in a session of its own: it still has our mark in its environment. Only processes younger than this
# shell are looked at, and under a clock, since /proc/PID/environ of a stuck process can block its reader.
sweep() {
  young=
  for p in /proc/[0-9]*; do [ "${p#/proc/}" -gt $$ ] && young="$young $p/environ"; done
  [ -n "$young" ] || return
  # shellcheck disable=SC2086
  for p in $($session sh -c "$runner" muster-probe 2 65536 grep -lsF "MUSTER_PROBE=$mark" $young); do
    case $p in /proc/*/environ) p=${p#/proc/} && kill -KILL "${p%/*}" ;; esac
  done
}

# lines FILE LAST: the first lines of a file up to the one that begins with LAST, 40 at most, in TEXT. Byte reads: short files only.
lines() {
  TEXT='' n=0
  [ -r "$1" ] || return
  while [ $n -lt 40 ] && IFS= read -r line && [ -n "$line" ]; do
    TEXT="$TEXT$line$NL" n=$((n + 1))
    case $line in "$2"*) break ;; esac
  done <"$1"
}

host_files() {
  files='' links=''
  for d in "$root"/sys/bus/pci/devices/*; do
    class=
    read -r class <"$d/class" || continue
    case $class in 0x03* | 0x12* | 0x0b40*) ;; *) continue ;; esac
    [ -e "$d/physfn" ] && continue
    for f in vendor device class revision subsystem_vendor subsystem_device numa_node current_link_speed current_link_width max_link_speed max_link_width unique_id mem_info_vram_total mem_info_vram_used current_compute_partition current_memory_partition; do
      [ -e "$d/$f" ] && files="$files $d/$f"
    done
    links="$links $d/driver"
  done
  n=0
  for d in /sys/class/net/*; do
    case ${d##*/} in lo | veth* | cali* | cni* | flannel* | docker* | br-* | tap* | tun* | virbr* | vnet* | dummy* | lxc* | cilium* | kube-* | nodelocal* | bonding_masters) continue ;; esac
    [ $n -lt 64 ] || break
    n=$((n + 1))
    files="$files $d/address $d/speed $d/operstate $d/mtu"
    [ -e "$d/device" ] && files="$files $d/device/numa_node" links="$links $d/device $d/device/driver"
  done
  n=0
  for d in /sys/block/*; do
    case ${d##*/} in loop* | ram* | zram* | dm-* | sr* | fd* | nbd*) continue ;; esac
    [ $n -lt 128 ] || break
    n=$((n + 1))
    files="$files $d/size $d/queue/rotational $d/device/model $d/device/serial"
  done
  for d in "$root"/sys/class/infiniband/*; do
    [ -e "$d" ] || continue
    files="$files $d/node_guid $d/fw_ver $d/hca_type $d/board_id $d/device/numa_node"
    for f in "$d"/ports/*; do files="$files $f/state $f/phys_state $f/rate $f/link_layer $f/lid"; done
    links="$links $d/device"
  done
  for f in nvidia amdgpu i915 xe alixpu mlx5_core; do files="$files /sys/module/$f/version"; done
  for f in sys_vendor product_name product_serial product_uuid board_vendor board_name board_serial bios_version bios_date chassis_serial chassis_asset_tag; do
    files="$files /sys/class/dmi/id/$f"
  done
  d=/sys/devices/system
  files="$files $d/cpu/online $d/cpu/cpu0/topology/core_siblings_list $d/cpu/cpu0/topology/thread_siblings_list $d/node/node*/cpulist"
  for f in kernel/hostname kernel/osrelease kernel/random/boot_id kernel/arch; do files="$files /proc/sys/$f"; done
  files="$files /proc/uptime /proc/net/route $root/proc/driver/nvidia/version $root/proc/driver/nvidia/gpus/*/information"
  f=/etc/os-release
  [ -e $f ] || f=/usr/lib/os-release
  files="$files $f /etc/machine-id /run/systemd/container /sys/hypervisor/type"
  d=$root/usr/local
  files="$files $d/cuda/version.json $d/cuda/version.txt $d/cuda-[0-9]*/version.json $root/opt/rocm/.info/version $root/opt/rocm-[0-9]*/.info/version"
  files="$files $d/Ascend/driver/version.info $d/Ascend/firmware/version.info $d/Ascend/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info"
  files="$files $d/Ascend/cann/*-linux/ascend_toolkit_install.info $d/Ascend/latest/*-linux/ascend_toolkit_install.info"
  files="$files $d/PPU_SDK/version $d/PPU_SDK/VERSION $d/PPU_SDK/version.txt $d/PPU_SDK/version.json"
  links="$links $root/opt/intel/oneapi/compiler/latest $root/opt/intel/oneapi/latest $d/cuda $d/PPU_SDK $root/.dockerenv $root/run/.containerenv"
}

# where PROGRAM: its path in FOUND, or nothing. `command -v` would need a fork to be read.
where() {
  IFS=:
  for FOUND in $PATH; do
    FOUND=$FOUND/$1
    [ -f "$FOUND" ] && [ -x "$FOUND" ] && case $FOUND in /*) break ;; esac
    FOUND=''
  done
  IFS=$SPACES
}

# vendor_tool PROGRAM: the same, with a line in `found`.
vendor_tool() {
  where "$1"
  found="$found$1 ${FOUND:--}$NL"
  [ -n "$FOUND" ]
}

main() {
  NL='
'
  SPACES=$IFS
  LC_ALL=C LANG=C PYTHONDONTWRITEBYTECODE=1
  export LC_ALL LANG PYTHONDONTWRITEBYTECODE
  PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/rocm/bin:/usr/local/PPU_SDK/ppu-smi/bin:/usr/local/Ascend/driver/tools:/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/lib/wsl/lib
  export PATH
  # Where accelerators and toolkits are looked for: a node made of files has its own.
  root=${MUSTER_ROOT:-} tool_seconds=${MUSTER_TOOL_SECONDS:-10} system_seconds=5 tool_bytes=262144
  nonce=${MUSTER_NONCE:-}
  [ -n "$nonce" ] || read -r nonce </proc/sys/kernel/random/uuid
  read -r mark </proc/sys/kernel/random/uuid
  unset MUSTER_NONCE
  now
  began=$NOW
  printf 'muster-probe/1 %s\n' "$nonce"

  lines /proc/cpuinfo 'cpu cores'
  frame cpuinfo "$TEXT"
  lines /proc/meminfo SwapTotal
  frame meminfo "$TEXT"
  read -r hostname </proc/sys/kernel/hostname
  [ -r /proc/sys/kernel/arch ] || frame uname "$(uname -m)"
  host_files
  # shellcheck disable=SC2086
  frame files "$(grep -Hs '' $files)"
  # shellcheck disable=SC2086
  frame links "$(ls -ldn $links)"

  where setsid
  session=$FOUND runner=$IN_SESSION
  [ -n "$session" ] || runner=$IN_TIMEOUT
  found='' run=''
  vendor_tool nvidia-smi && nvidia_smi=$FOUND run="$run nvidia"
  vendor_tool amd-smi && amd_smi=$FOUND
  vendor_tool rocm-smi && rocm_smi=$FOUND
  [ -n "$amd_smi$rocm_smi" ] && run="$run amd"
  vendor_tool xpu-smi && xpu_smi=$FOUND run="$run intel"
  vendor_tool npu-smi && npu_smi=$FOUND run="$run huawei"
  vendor_tool ppu-smi && ppu_smi=$FOUND run="$run thead"
  frame tools "$found"
  nvcc=''
  [ -e "$root/usr/local/cuda/version.json" ] || [ -e "$root/usr/local/cuda/version.txt" ] || { where nvcc && nvcc=$FOUND; }
  where timeout

  # shellcheck disable=SC2086
  set -- system $run
  first_stage=$1
  [ $# -gt 3 ] && tool_bytes=$((786432 / $#))
  if [ -n "$session$FOUND" ]; then
    stages "$@"
    [ -n "$run" ] && [ -n "$session" ] && sweep
  else
    frame unbounded 'neither setsid nor timeout: a hung tool could not be ended, so none was called'
  fi
  now
  printf '%s end ms=%s\n' "$nonce" "$(((NOW - began) * 10))"
}

main </dev/null 2>/dev/null
