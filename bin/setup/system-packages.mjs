import fs from 'node:fs'
import path from 'node:path'
import { exec, StepFailed, step } from './step.mjs'

/** The headless browser; Fedora packages only the full one. */
const browser = which('dnf') ? 'chromium' : 'chromium-headless-shell'

/** Programs that npm and PyPI do not provide: executables and modules to find, and the packages that contain them. */
export const PROGRAMS = {
  ssh: { find: ['ssh', 'ssh-agent', 'ssh-keygen'], apt: ['openssh-client'], dnf: ['openssh-clients'] },
  python: { find: ['python3'], apt: ['python3', 'python3-venv'], dnf: ['python3', 'python3-pip'] },
  sshd: { find: ['sshd'], apt: ['openssh-server'], dnf: ['openssh-server'] },
  ip: { find: ['ip', 'tc'], apt: ['iproute2'], dnf: ['iproute', 'iproute-tc'] },
  sudo: { find: ['sudo'], apt: ['sudo'], dnf: ['sudo'] },
  unshare: { find: ['unshare', 'nsenter', 'setpriv'], apt: ['util-linux'], dnf: ['util-linux'] },
  bwrap: { find: ['bwrap'], apt: ['bubblewrap'], dnf: ['bubblewrap'] },
  openssl: { find: ['openssl'], apt: ['openssl'], dnf: ['openssl'] },
  gpg: { find: ['gpg'], apt: ['gpg', 'python3-apt'], dnf: ['gnupg2'] },
  promtool: { find: ['promtool'], apt: ['prometheus'], dnf: ['golang-github-prometheus'] },
  dpkg: { find: ['dpkg-deb'], apt: ['dpkg'], dnf: ['dpkg'] },
  clush: { find: ['clush'], apt: ['clustershell'], dnf: ['clustershell'] },
  pdsh: { find: ['pdsh'], apt: ['pdsh'], dnf: ['pdsh', 'pdsh-rcmd-ssh'] },
  etcd: { find: ['etcd'], apt: ['etcd-server'], dnf: ['etcd'] },
  perl: { find: ['perl'], apt: ['perl'], dnf: ['perl'] },
  rpm: { find: ['rpmbuild'], apt: ['rpm'], dnf: ['rpm-build'] },
  dnsmasq: { find: ['dnsmasq'], apt: ['dnsmasq-base'], dnf: ['dnsmasq'] },
  qemu: { find: ['qemu-system-x86_64'], apt: ['qemu-system-x86', 'ipxe-qemu'], dnf: ['qemu-system-x86-core', 'ipxe-roms-qemu'] },
  busybox: { find: ['busybox'], apt: ['busybox-static'], dnf: ['busybox'] },
  dropbear: { find: ['dropbear', 'dropbearkey'], apt: ['dropbear-bin'], dnf: ['dropbear'] },
  nginx: { find: ['nginx'], apt: ['nginx-light'], dnf: ['nginx-core'] },
  kea: { find: ['kea-dhcp4'], apt: ['kea-dhcp4-server'], dnf: ['kea'] },
  slapd: { find: ['slapd', 'slapadd'], apt: ['slapd'], dnf: ['openldap-servers'] },
  postgres: { find: ['pg_dump'], apt: ['postgresql'], dnf: ['postgresql-server'] },
  rsyslog: {
    find: ['rsyslogd'],
    modules: ['rsyslog/lmnsd_ossl.so'],
    apt: ['rsyslog', 'rsyslog-openssl'],
    dnf: ['rsyslog', 'rsyslog-openssl'],
  },
  chromium: { find: [browser], apt: [browser], dnf: [browser] },
}

/** Programs that each purpose needs. Without root the lab runs sshd processes on loopback and needs no namespaces. */
export const needs = {
  run: ['ssh', 'python'],
  lab:
    process.getuid?.() === 0
      ? ['ssh', 'python', 'sshd', 'ip', 'sudo', 'unshare', 'openssl']
      : ['ssh', 'python', 'sshd', 'openssl'],
}
// Only tests as root install signed packages on lab nodes and isolate playbooks.
needs.test = [
  ...needs.lab,
  ...(process.getuid?.() === 0 ? ['gpg', 'bwrap'] : []),
  'promtool',
  'dpkg',
  'rpm',
  'slapd',
  'dnsmasq',
  'kea',
  'rsyslog',
  'chromium',
]

/** Programs that single benchmarks compare with or use, beside those of the lab. */
export const benchNeeds = {
  discovery: ['clush', 'pdsh'],
  heartbeats: ['etcd', 'openssl', 'unshare'],
  agent: ['dpkg'],
  boot: ['nginx'],
  events: ['perl'],
  'log-fanout': ['perl'],
}

/** Installs missing programs as root with apt or dnf; otherwise throws StepFailed with their names and the command to run. */
export async function systemPackages(names) {
  const missingPartsOf = ({ find, modules = [] }) => [
    ...find.filter((program) => !which(program)),
    ...modules.filter((module) => !hasModule(module)),
  ]
  const missing = names.filter((name) => missingPartsOf(PROGRAMS[name]).length > 0)
  if (missing.length === 0) return
  const installer = which('apt-get') ? 'apt' : which('dnf') ? 'dnf' : undefined
  const packages = [...new Set(missing.flatMap((name) => PROGRAMS[name][installer ?? 'apt']))]
  const missingPrograms = () => missing.flatMap((name) => missingPartsOf(PROGRAMS[name])).join(', ')
  const message = `Missing programs: ${missingPrograms()}`
  if (!installer) throw new StepFailed(message, { hint: 'Install these programs, then run the command again.' })
  const command = installer === 'apt' ? `apt-get install ${packages.join(' ')}` : `dnf install ${packages.join(' ')}`
  if (process.getuid?.() !== 0) throw new StepFailed(message, { hint: `sudo ${command}\nthen run the command again.` })
  await step(`Install ${packages.join(', ')}`, () => install(installer, packages))
  const stillMissing = missingPrograms()
  if (stillMissing)
    throw new StepFailed(`Still missing after \`${command}\`: ${stillMissing}`, { hint: 'Install them manually.' })
}

/** Installs packages as root. Updates apt's package lists only when the first attempt fails. */
export async function install(installer, names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const hint = 'Check that the package mirror is reachable.'
  if (installer === 'dnf')
    return await exec(['dnf', 'install', '-y', '--setopt=install_weak_deps=False', ...names], { env, hint })
  // Waits when another process, such as a parallel setup or unattended-upgrades, is installing packages.
  const apt = ['apt-get', '-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '-q', '--no-install-recommends', ...names]
  try {
    return await exec(apt, { env })
  } catch {
    await exec(['apt-get', 'update', '-q'], { env, hint })
    return await exec(apt, { env, hint })
  }
}

/** Full path of a program on PATH or in the sbin folders; undefined when it is not installed. */
export function which(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin', '/usr/local/sbin']
  for (const folder of folders) {
    const file = path.join(folder, program)
    try {
      fs.accessSync(file, fs.constants.X_OK)
      if (fs.statSync(file).isFile()) return file
    } catch {
      // not in this folder
    }
  }
}

/** Whether a folder of libraries has this file: Debian's are in a folder per architecture. */
function hasModule(file) {
  const folders = ['/usr/lib64', ...fs.readdirSync('/usr/lib').map((name) => path.join('/usr/lib', name))]
  return folders.some((folder) => fs.existsSync(path.join(folder, file)))
}
