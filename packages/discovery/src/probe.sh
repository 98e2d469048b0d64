# Collects operating system, hardware and the output of the vendors' tools. POSIX sh (dash, bash, busybox ash), without Python,
# temporary files and leftover processes. `probe-command.ts` prepends the settings and sends the script on stdin.
#
# Output: `muster-probe/1 NONCE`, then frames `NONCE + NAME`, body, `NONCE - key=value ...`, and finally `NONCE end`. The tools do not
# know the nonce, so their output cannot forge frames. `frames.ts` parses the output.
#
# Forks are expensive: builtins, ONE grep (which prefixes each line with its path) and ONE ls read /proc and /sys. All calls of a
# vendor share one session, one watchdog and one output limit.

# now: sets NOW to hundredths of a second since boot.
now() {
  read -r up rest </proc/uptime
  NOW=$((${up%.*} * 100 + 1${up#*.} - 100))
}

# frame NAME BODY
frame() { printf '%s + %s\n%.262144s\n%s -\n' "$nonce" "$1" "$2" "$nonce"; }

# begin TOOL PATH ARG...: opens the frame of a call. Fails when the time limit is reached.
begin() {
  tool=$1
  shift 2
  OUT=''
  now
  started=$NOW
  printf '%s + tool %s%s\n' "$nonce" "$tool" "${*:+ $*}"
  [ "$NOW" -lt "$deadline" ] && return
  printf '\n%s - skipped=1\n' "$nonce"
  return 1
}

# end_frame: closes the frame.
end_frame() {
  flags=
  now
  [ "$NOW" -ge "$deadline" ] && flags=' timeout=1'
  printf '\n%s - ms=%s%s\n' "$nonce" "$(((NOW - started) * 10))" "$flags"
}

# call TOOL PATH ARG...: runs a call, streams its output, and prints a line `:EXITCODE`. Returns the exit code.
call() {
  begin "$@" || return
  shift
  (trap - TERM && exec "$@" 2>&1)
  code=$?
  printf '\n:%s' $code
  end_frame
  return $code
}

# capture TOOL PATH ARG...: like call, and stores the output in OUT. Leftover processes of the tool are killed, because they would keep
# the pipe open. A quarter of the output limit is left for the calls that follow. `filter` is a program
# that removes unused parts.
capture() {
  begin "$@" || return
  shift
  OUT=$({ (trap - TERM && exec "$@" 2>&1); printf '\n:%s' $?; kill -TERM 0; } | $filter | head -c "$((bytes / 4 * 3))")
  printf '%s' "$OUT"
  end_frame
  case $OUT in *"$NL:0") return 0 ;; esac
  return 1
}

# without_bulk: removes what makes three quarters of `nvidia-smi -q -x` on large nodes: clocks and processes. An element can be one line.
without_bulk() {
  sed -e '/<supported_clocks>.*<\/supported_clocks>/d' -e '/<supported_clocks>/,/<\/supported_clocks>/d' \
    -e '/<accounted_processes>.*<\/accounted_processes>/d' -e '/<accounted_processes>/,/<\/accounted_processes>/d' \
    -e '/<processes>.*<\/processes>/d' -e '/<processes>/,/<\/processes>/d'
}

nvidia() {
  nvidia_smi=$1
  where sed
  [ -n "$FOUND" ] && filter=without_bulk
  capture nvidia-smi "$nvidia_smi" -q -x
  filter=cat
  fields=index,name,uuid,serial,pci.bus_id,memory.total,memory.used,driver_version,vbios_version,temperature.gpu,power.draw,power.limit,utilization.gpu,ecc.mode.current,mig.mode.current
  case $OUT in
  *'<nvidia_smi_log'*'</gpu>'*)
    xml=$OUT
    call nvidia-smi "$nvidia_smi" --query-gpu=index,uuid,pci.bus_id,compute_cap,mig.mode.current --format=csv,noheader,nounits
    # The end is missing when the output exceeded the limit: list the devices that it lacks.
    case $xml in *'</nvidia_smi_log>'*) ;; *) call nvidia-smi "$nvidia_smi" --query-gpu=$fields --format=csv,noheader,nounits ;; esac
    # Only -L contains the UUIDs of MIG devices.
    case $xml in *'<mig_device>'*) call nvidia-smi "$nvidia_smi" -L ;; esac
    case $xml in *'</gpu>'*'</gpu>'*) call nvidia-smi "$nvidia_smi" topo -m ;; esac
    ;;
  *NVML* | *"couldn't communicate"* | *'No devices were found'*) ;; # broken driver: the other calls would fail too
  *'Unable to determine the device handle'*)
    # One lost GPU makes calls for all devices fail: query each device that the driver has.
    for gpu in "$root"/proc/driver/nvidia/gpus/*; do
      [ -e "$gpu" ] && call nvidia-smi "$nvidia_smi" -q -x -i "${gpu##*/}"
    done
    ;;
  *)
    capture nvidia-smi "$nvidia_smi"
    case $OUT in *NVML* | *"couldn't communicate"* | *'No devices were found'*) return ;; esac
    call nvidia-smi "$nvidia_smi" --query-gpu=$fields --format=csv,noheader,nounits
    call nvidia-smi "$nvidia_smi" -L
    ;;
  esac
}

amd() {
  amd_smi=$1 rocm_smi=$2 found=
  if [ -n "$amd_smi" ]; then
    capture amd-smi "$amd_smi" static --json
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
    # A separate call, because older releases reject the whole call.
    call rocm-smi "$rocm_smi" --showcomputepartition --showmemorypartition --json
  fi
}

intel() {
  xpu_smi=$1
  capture xpu-smi "$xpu_smi" discovery -j
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
  for id in $ids; do call xpu-smi "$xpu_smi" discovery -d "$id" -j; done
  call xpu-smi "$xpu_smi" health -l -j
  for id in $ids; do call xpu-smi "$xpu_smi" stats -d "$id" -j; done
  call xpu-smi "$xpu_smi" topology -m
  call xpu-smi "$xpu_smi" -v
}

huawei() {
  npu_smi=$1
  lib=/usr/local/Ascend/driver/lib64
  LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$lib:$lib/driver:$lib/common
  export LD_LIBRARY_PATH
  capture npu-smi "$npu_smi" info || [ "${#OUT}" -gt 400 ] || return
  call npu-smi "$npu_smi" info -m
  capture npu-smi "$npu_smi" info -l
  # `NPU ID : 3` begins a card, `Chip Count : 2` is its number of chips.
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
  for id in $pairs; do call npu-smi "$npu_smi" info -t board -i "${id%/*}" -c "${id#*/}"; done
  # 950 reports no chip count and rejects -c, and the list of A3 has no serials: query the card.
  [ -n "$serials" ] && [ -n "$pairs" ] || for id in $cards; do call npu-smi "$npu_smi" info -t board -i "$id"; done
  for id in $cards; do call npu-smi "$npu_smi" info -t ecc -i "$id"; done
  set -- "$root"/dev/vdavinci*
  [ -e "$1" ] || pairs=
  for id in $pairs; do call npu-smi "$npu_smi" info -t info-vnpu -i "${id%/*}" -c "${id#*/}"; done
  call npu-smi "$npu_smi" info -t topo
}

thead() {
  ppu_smi=$1
  capture ppu-smi "$ppu_smi" -q
  many=$OUT
  # Missing driver: the other calls would fail too.
  case $OUT in *'Product Name'*) ;; *'/dev/alixpu'* | *'shared libraries'*) return ;; esac
  fields=index,name,serial,uuid,pci.bus_id,driver_version,memory.total,memory.used
  call ppu-smi "$ppu_smi" --query-ppu=$fields --format=csv || call ppu-smi "$ppu_smi" --query-gpu=$fields --format=csv
  case $many in *'Product Name'*) ;; *) call ppu-smi "$ppu_smi" ;; esac
  call ppu-smi "$ppu_smi" -L
  case $many in *'Product Name'*'Product Name'*) call ppu-smi "$ppu_smi" topo -m ;; esac
}

# system HOSTNAME NVCC: facts that need a program, under one time limit, because df and python can hang. Network file systems are listed
# but not measured. NVCC is empty when its version is not needed.
system() {
  begin system ''
  echo @addresses
  ip -o addr show | head -n 200
  echo @hosts
  grep -swF -m 8 -e "$1" /etc/hosts
  echo @python
  where python3
  for p in /usr/bin/python3 "$FOUND" /usr/libexec/platform-python; do
    [ -x "$p" ] && printf '%s ' "$p" && "$p" -V 2>&1 && break
  done
  echo @nvcc
  [ -n "$2" ] && "$2" --version
  echo @mounts
  mounts=$(grep -m 200 -E '^/dev/| / | (zfs|nfs4?|lustre|gpfs|beegfs|ceph|cifs|wekafs|fuse[.][^ ]+) ' /proc/self/mounts)
  printf '%s\n@df\n' "$mounts"
  set -f
  seen=' ' places=
  while read -r device place type rest; do
    case $place in *\\*) continue ;; esac
    case $type in nfs* | lustre | gpfs | beegfs | ceph | cifs | wekafs | fuse*) continue ;; esac
    case $seen in *" $device "*) [ "$place" = / ] || continue ;; esac
    seen="$seen$device " places="$places $place"
  done <<MOUNTS
$mounts
MOUNTS
  # shellcheck disable=SC2086
  df -kP $places
  printf '\n:%s' $?
  end_frame
}

# sweep MARK ENVIRON...: kills processes that a tool started in a separate session; their environment contains MARK. ENVIRON lists
# processes younger than the probe. Runs under a time limit, because /proc/PID/environ of a stuck process can block its reader.
sweep() {
  mark=$1
  shift
  for p in $(grep -lsF "MUSTER_PROBE=$mark" "$@"); do
    p=${p#/proc/}
    [ "$p" = "$$/environ" ] || kill -KILL "${p%/*}"
  done
}

# run_stage STAGE SECONDS BYTES ARG...: runs in a session. Its process group contains all processes of its calls. The shells and head
# ignore SIGTERM, so the partial output of a stopped tool arrives; SIGKILL follows. A tool stuck in the kernel cannot be killed: it holds
# the pipe to head, which is killed, but not the pipe to the probe, which continues.
run_stage() {
  # /proc/self would be the reading process.
  read -r pid name state parent group rest </proc/$$/stat
  [ "$group" = $$ ] || [ "$group" = "$parent" ] || exit 97
  trap '' TERM
  stage=$1 seconds=$2 bytes=$3
  shift 3
  now
  deadline=$((NOW + seconds * 100))
  { sleep "$seconds"; kill -TERM 0; sleep 1; kill -KILL 0; } >/dev/null &
  "$stage" "$@" | head -c "$bytes"
  kill -KILL 0
}

# session STAGE SECONDS BYTES ARG...: runs a stage in a session and stores its output in OUT.
session() {
  # `timeout` also creates a process group.
  launcher=$setsid
  [ -n "$launcher" ] || launcher="$timeout -s KILL $(($2 + 2))"
  OUT=$(MUSTER_PROBE=$mark MUSTER_NONCE=$nonce $launcher sh -c "$MUSTER_SCRIPT" muster-probe "$@")
}

# stage NAME: runs the calls of one vendor. Writes their frames to fd 3 after the previous stage ended, which closes stdin. Stages run in
# parallel, each with its own time limit.
stage() {
  seconds=$tool_seconds
  case $1 in
  system) seconds=$system_seconds; set -- system "${hostname:-localhost}" "$nvcc" ;;
  nvidia) set -- nvidia "$nvidia_smi" ;;
  amd) set -- amd "$amd_smi" "$rocm_smi" ;;
  intel) set -- intel "$xpu_smi" ;;
  huawei) set -- huawei "$npu_smi" ;;
  thead) set -- thead "$ppu_smi" ;;
  esac
  tool=$1
  [ "$1" = system ] || { tool=${2:-$3}; tool=${tool##*/}; }
  now
  end=$((NOW + seconds * 100))
  name=$1
  shift
  session "$name" "$seconds" "$tool_bytes" "$@" 3>&-
  now
  [ "$name" = system ] || read -r end_of_input
  # Close the last frame, which may be open or lost with the session.
  printf '%s\n%s - cut=1\n' "$OUT" "$nonce" >&3
  [ "$NOW" -lt "$end" ] || case $OUT in
  *' timeout=1'*) ;;
  *) printf '%s + tool %s\n\n%s - timeout=1\n' "$nonce" "$tool" "$nonce" >&3 ;;
  esac
}

# stages NAME...: runs stages as a pipeline.
stages() {
  if [ $# -eq 1 ]; then
    stage "$1"
  else
    head=$1
    shift
    stage "$head" | stages "$@"
  fi
}

# young: sets YOUNG to the environ files of processes that started after this shell.
young() {
  YOUNG=
  for p in /proc/[0-9]*; do [ "${p#/proc/}" -gt $$ ] && YOUNG="$YOUNG $p/environ"; done
  [ -n "$YOUNG" ]
}

# lines FILE LAST: sets TEXT to the first lines of a file up to the line that begins with LAST, at most 40. For short files only, because
# read consumes single bytes.
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
  files="$files $d/cpu/online $d/cpu/cpu0/topology/core_siblings_list $d/cpu/cpu[0-9]*/topology/thread_siblings_list $d/cpu/cpu[0-9]*/topology/physical_package_id $d/node/node*/cpulist"
  for f in kernel/hostname kernel/osrelease kernel/random/boot_id kernel/arch; do files="$files /proc/sys/$f"; done
  files="$files /proc/uptime /proc/net/route $root/proc/driver/nvidia/version $root/proc/driver/nvidia/gpus/*/information"
  files="$files $root/proc/driver/nvidia/capabilities/gpu*/mig/gi*/access $root/proc/driver/nvidia/capabilities/gpu*/mig/gi*/ci*/access"
  f=/etc/os-release
  [ -e $f ] || f=/usr/lib/os-release
  files="$files $f /etc/machine-id /run/systemd/container /sys/hypervisor/type"
  d=$root/usr/local
  files="$files $d/cuda/version.json $d/cuda/version.txt $d/cuda-[0-9]*/version.json $root/opt/rocm/.info/version $root/opt/rocm-[0-9]*/.info/version"
  files="$files $d/Ascend/driver/version.info $d/Ascend/firmware/version.info $d/Ascend/ascend-toolkit/latest/*-linux/ascend_toolkit_install.info"
  files="$files $d/Ascend/cann/*-linux/ascend_toolkit_install.info $d/Ascend/latest/*-linux/ascend_toolkit_install.info"
  files="$files $d/PPU_SDK/version $d/PPU_SDK/VERSION $d/PPU_SDK/version.txt $d/PPU_SDK/version.json"
  f=nvidia-fabricmanager.service
  links="$links $root/lib/systemd/system/$f $root/usr/lib/systemd/system/$f $root/sys/fs/cgroup/system.slice/$f/cgroup.procs $root/sys/fs/cgroup/systemd/system.slice/$f/cgroup.procs"
  links="$links $root/opt/intel/oneapi/compiler/latest $root/opt/intel/oneapi/latest $d/cuda $d/PPU_SDK $root/.dockerenv $root/run/.containerenv"
}

# where PROGRAM: sets FOUND to its path, or to nothing. Reading `command -v` would need a fork.
where() {
  IFS=:
  for FOUND in $PATH; do
    FOUND=$FOUND/$1
    [ -f "$FOUND" ] && [ -x "$FOUND" ] && case $FOUND in /*) break ;; esac
    FOUND=''
  done
  IFS=$SPACES
}

# vendor_tool PROGRAM: like where, and adds a line to `found`.
vendor_tool() {
  where "$1"
  found="$found$1 ${FOUND:--}$NL"
  [ -n "$FOUND" ]
}

# settings: initializes the probe and its sessions.
settings() {
  NL='
'
  SPACES=$IFS
  LC_ALL=C LANG=C PYTHONDONTWRITEBYTECODE=1
  export LC_ALL LANG PYTHONDONTWRITEBYTECODE
  PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/rocm/bin:/usr/local/PPU_SDK/ppu-smi/bin:/usr/local/Ascend/driver/tools:/usr/local/nvidia/bin:/usr/local/cuda/bin:/usr/lib/wsl/lib
  # Drivers in containers, of GKE and Container-Optimized OS, of Hygon, and ROCm without the link /opt/rocm.
  PATH=$PATH:/run/nvidia/driver/usr/bin:/home/kubernetes/bin/nvidia/bin:/opt/bin:/opt/hyhal/bin:/opt/dtk/bin
  for d in /opt/rocm-*/bin; do [ -e "$d" ] && PATH=$PATH:$d; done
  export PATH
  # MUSTER_ROOT is the root of accelerator and toolkit files; tests set it.
  root=${MUSTER_ROOT:-} tool_seconds=${MUSTER_TOOL_SECONDS:-10} system_seconds=5 tool_bytes=524288 filter=cat
  nonce=${MUSTER_NONCE:-}
  unset MUSTER_NONCE
}

main() {
  [ -n "$nonce" ] || read -r nonce </proc/sys/kernel/random/uuid
  read -r mark </proc/sys/kernel/random/uuid
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
  setsid=$FOUND
  where timeout
  timeout=$FOUND
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

  # shellcheck disable=SC2086
  set -- system $run
  [ $# -gt 3 ] && tool_bytes=$((1572864 / $#))
  if [ -n "$setsid$timeout" ]; then
    stages "$@" 3>&1
    # The second pass kills what a process started while the first one looked.
    # shellcheck disable=SC2086
    [ -n "$run" ] && for pass in 1 2; do young && session sweep 2 65536 "$mark" $YOUNG; done
  else
    frame unbounded 'no tool was called: without setsid and timeout, a hung tool cannot be killed'
  fi
  now
  printf '%s end ms=%s\n' "$nonce" "$(((NOW - began) * 10))"
}

settings
if [ $# -gt 0 ]; then run_stage "$@"; else main; fi </dev/null 2>/dev/null
