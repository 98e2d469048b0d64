const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export type ReadinessRequest = {
  /** Controllers that the node must reach; empty before the cluster exists. */
  controllers: { name: string; address: string }[]
  /** Device files that slurm.conf will name. */
  files: string[]
  /** Folder with an installed Slurm; null: Muster installs packages. */
  prefix: string | null
  /** Whether packages come from the repositories that the node has. */
  usesNodeRepositories: boolean
}

const pathLine = (prefix: string | null): string =>
  `PATH=${prefix === null ? '' : `${quoted(prefix)}/sbin:${quoted(prefix)}/bin:`}$PATH:/usr/local/sbin:/usr/sbin:/sbin`

const HARDWARE = 'command -v slurmd >/dev/null && slurmd -C 2>/dev/null | sed -n "s/^NodeName=/hardware NodeName=/p"'

/** Prints the hardware as an installed slurmd sees it. */
export const hardwareScript = (prefix: string | null): string => [pathLine(prefix), HARDWARE, ''].join('\n')

/** Prints one finding a line: a word, then its value. Needs a POSIX shell; changes nothing. */
export function readinessScript({ controllers, files, prefix, usesNodeRepositories }: ReadinessRequest): string {
  return [
    pathLine(prefix),
    ...(prefix === null ? [] : [`[ -x ${quoted(prefix)}/sbin/slurmd ] && echo 'prefix found'`]),
    'if [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then echo "root yes"; else echo "root no"; fi',
    `(. /etc/os-release 2>/dev/null; echo "os \${ID:-unknown} \${VERSION_ID:-} \${ID_LIKE:-}")`,
    'echo "arch $(uname -m)"',
    'echo "hostname $(hostname -s 2>/dev/null || hostname)"',
    'echo "clock $(date +%s)"',
    'for name in munged slurmd slurmctld slurmdbd; do',
    '  command -v $name >/dev/null && echo "installed $name"',
    'done',
    'for name in slurmd slurmctld slurmdbd; do pidof $name >/dev/null 2>&1 && echo "running $name"; done',
    // A munged with another socket, for example for slurmdbd, does not conflict.
    'for pid in $(pidof munged 2>/dev/null); do',
    '  tr "\\0" " " < /proc/$pid/cmdline | sed -nE "s/.* (-S ?|--socket[= ])([^ ]+) .*/\\2/p" | grep -qv "/run/munge/munge\\.socket\\.2$" || echo "running munged"',
    'done',
    'command -v slurmd >/dev/null && echo "version $(slurmd -V 2>/dev/null)"',
    // Port 6818 in state LISTEN.
    "grep -qsE ':1AA2 0+:0+ 0A|:1AA2 0+:0000 0A' /proc/net/tcp /proc/net/tcp6 && echo 'port used'",
    'if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo "cgroup v2"; elif [ -d /sys/fs/cgroup ]; then echo "cgroup v1"; fi',
    'echo "disk $(df -Pk /var 2>/dev/null | tail -n 1)"',
    ...controllers.flatMap(({ name, address }) => [
      `getent hosts ${quoted(name)} >/dev/null && echo ${quoted(`resolves ${name}`)}`,
      `timeout 5 bash -c ': </dev/tcp/$0/6817' ${quoted(address)} 2>/dev/null && echo ${quoted(`reaches ${name}`)}`,
    ]),
    ...files.map((file) => `[ -e ${quoted(file)} ] || echo ${quoted(`missing ${file}`)}`),
    HARDWARE,
    // Unlike Debian, distributions of the RHEL family have no packages of Slurm of their own.
    ...(usesNodeRepositories
      ? ['command -v dnf >/dev/null && ! timeout 20 dnf --quiet list slurm-slurmd >/dev/null 2>&1 && echo "packages missing"']
      : []),
    'echo end',
    '',
  ].join('\n')
}
