import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type FileSpec, hidePaths, writeFiles } from '../files.ts'
import { vendorTools } from '../hardware.ts'
import { hashPasswords } from '../keys.ts'
import { withoutSlurmPackages } from '../slurm/packages.ts'
import type { LabCredentials } from '../types.ts'

/** Top-level folders of the host that nodes see; all others (homes, data, this repository) are hidden. */
const visibleTopLevel = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'usr', 'etc', 'var']

/** Entries of the host's /etc that nodes see: what programs need to run, without the host's configuration. */
const visibleInEtc = new RegExp(
  `^(${[
    'alternatives',
    'authselect',
    'ca-certificates.*',
    'crypto-policies',
    'debian_version',
    'default',
    'dpkg',
    'gai\\.conf',
    'host\\.conf',
    'issue.*',
    'ld\\.so\\..*',
    'libaudit\\.conf',
    'locale.*',
    'localtime',
    'login\\.defs',
    'magic.*',
    'networks',
    'nsswitch\\.conf',
    'os-release',
    'pam\\.(conf|d)',
    'perl',
    'pki',
    'protocols',
    'python3.*',
    '.*-release',
    'rpc',
    'rpm',
    'security',
    'selinux',
    'services',
    'shells',
    'skel',
    'ssl',
    'terminfo',
    'timezone',
  ].join('|')})$`,
)

/** Lab users; ids that real hosts are unlikely to use. */
const users = { ops: 2001, admin: 2002, plain: 2003, jump: 2004 } as const

/** An account of a service: lines of /etc/passwd and /etc/group. */
export interface Account {
  name: string
  passwd: string
  group: string
}

/** Fills the two layers that all nodes of a lab share: `mask` hides the host's files, `base` adds a clean machine. */
export async function buildBase(
  mask: string,
  base: string,
  credentials: LabCredentials,
  services: Account[] = [],
): Promise<void> {
  const hidden = (dir: string, isVisible: (name: string) => boolean) =>
    listing(dir)
      .filter((name) => !isVisible(name))
      .map((name) => path.join(dir, name))
  const slurm = withoutSlurmPackages()
  hidePaths(mask, path.join(mask, '.whiteout'), [
    ...hidden('/', (name) => visibleTopLevel.includes(name)),
    ...hidden('/etc', (name) => visibleInEtc.test(name)),
    ...hidden('/var', (name) => name === 'lib'),
    ...hidden('/var/lib', (name) => name === 'dpkg' || name === 'rpm'),
    '/usr/local',
    '/usr/src',
    '/etc/ssl/private',
    ...['/usr/bin', '/usr/sbin'].flatMap((dir) => hidden(dir, (name) => !vendorTools.includes(name))),
    ...slurm.hidden,
  ])
  for (const dir of [
    'dev',
    'mnt',
    'media',
    'opt',
    'proc',
    'run',
    'srv',
    'sys',
    'usr/local/bin',
    'usr/local/sbin',
    'var/cache/apt/archives/partial',
    'var/lib/apt/lists/partial',
    'var/log/apt',
    ...['apt.conf.d', 'preferences.d', 'sources.list.d', 'trusted.gpg.d'].map((name) => `etc/apt/${name}`),
  ]) {
    mkdirSync(path.join(base, dir), { recursive: true })
  }
  for (const dir of ['tmp', 'var/tmp']) {
    mkdirSync(path.join(base, dir), { recursive: true })
    chmodSync(path.join(base, dir), 0o1777)
  }
  const accounts = await accountFiles(credentials, services)
  writeFiles(base, [...accounts, ...systemFiles(), ...slurm.files])
  for (const [name, id] of Object.entries(users)) {
    for (const dir of [`home/${name}`, `home/${name}/.ssh`]) {
      mkdirSync(path.join(base, dir), { recursive: true })
      chmodSync(path.join(base, dir), 0o700)
      chownSync(path.join(base, dir), id, id)
    }
  }
  for (const dir of ['root', 'root/.ssh', 'etc/sudoers.d']) chmodSync(path.join(base, dir), 0o700)
}

function listing(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

async function accountFiles(credentials: LabCredentials, services: Account[]): Promise<FileSpec[]> {
  const { sshKey, sshPassword, sudoPassword, plainPassword, rootPassword, bastionKey, bastionPassword } = credentials
  const logins = [rootPassword, sshPassword, sudoPassword, plainPassword, bastionPassword].filter((login) => login !== null)
  const hashes = await hashPasswords(logins.map((login) => login.password))
  const hashOf = new Map(logins.map((login, index) => [login.username, hashes[index]]))
  const names = Object.entries(users)
  const isOther = (line: string) => !services.some(({ name }) => line.startsWith(`${name}:`))
  const passwd = [
    ...systemLines('/etc/passwd').filter(isOther),
    ...services.map(({ passwd }) => passwd),
    ...names.map(([name, id]) => `${name}:x:${id}:${id}:${name}:/home/${name}:/bin/bash`),
  ]
  const group = [
    ...systemLines('/etc/group').filter(isOther),
    ...services.map(({ group }) => group),
    ...names.map(([name, id]) => `${name}:x:${id}:`),
  ]
  // "*" means no password. "!" means locked: sshd without PAM rejects locked users even with a key.
  const shadow = passwd.map((line) => line.split(':')[0]!).map((name) => `${name}:${hashOf.get(name) ?? '*'}:19000:0:99999:7:::`)
  const keys = (name: keyof typeof users, content: string) => ({
    path: `/home/${name}/.ssh/authorized_keys`,
    content,
    mode: 0o600,
    uid: users[name],
  })
  return [
    { path: '/etc/passwd', content: `${passwd.join('\n')}\n` },
    { path: '/etc/group', content: `${group.join('\n')}\n` },
    { path: '/etc/shadow', content: `${shadow.join('\n')}\n`, mode: 0o600 },
    { path: '/root/.ssh/authorized_keys', content: sshKey.publicKey, mode: 0o600 },
    keys('ops', sshKey.publicKey),
    keys('admin', sshKey.publicKey),
    keys('jump', bastionKey?.publicKey ?? ''),
  ]
}

/** The host's system accounts, without its regular users. */
function systemLines(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => {
      const [name, , id] = line.split(':')
      return name && id && !(name in users) && (Number(id) < 1000 || Number(id) === 65534)
    })
}

function systemFiles(): FileSpec[] {
  const path_ = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  const sudoers = [
    'Defaults env_reset',
    'Defaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"',
    'root ALL=(ALL:ALL) ALL',
    '@includedir /etc/sudoers.d',
  ]
  // Empty shell startup files: they must not add to the cost of a session.
  return [
    { path: '/etc/profile', content: `export ${path_}\n` },
    { path: '/etc/bash.bashrc', content: '' },
    { path: '/etc/environment', content: `${path_}\n` },
    { path: '/etc/resolv.conf', content: '# Lab nodes resolve names only through /etc/hosts.\n' },
    {
      path: '/etc/nsswitch.conf',
      content: 'passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\nprotocols: files\n',
    },
    { path: '/etc/fstab', content: '' },
    { path: '/etc/sudoers', content: `${sudoers.join('\n')}\n`, mode: 0o440 },
    { path: '/etc/sudoers.d/ops', content: 'ops ALL=(ALL:ALL) NOPASSWD: ALL\n', mode: 0o440 },
    { path: '/etc/sudoers.d/admin', content: 'admin ALL=(ALL:ALL) ALL\n', mode: 0o440 },
    { path: '/etc/ssh/sshd_config', content: sshdConfig },
    { path: '/usr/lib/lab/init', content: readFileSync(new URL('init.sh', import.meta.url), 'utf8'), mode: 0o755 },
    { path: '/usr/bin/systemctl', content: readFileSync(new URL('systemctl.py', import.meta.url), 'utf8'), mode: 0o755 },
    ...['/usr/sbin/reboot', '/usr/sbin/shutdown', '/usr/sbin/poweroff', '/usr/sbin/halt'].map((path) => ({
      path,
      content: powerScript,
      mode: 0o755,
    })),
  ]
}

const sshdConfig = `Port 22
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication yes
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
MaxStartups 1000:30:2000
MaxSessions 200
LoginGraceTime 60
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
`

/** reboot, shutdown, poweroff and halt: SIGHUP tells init to reboot and SIGINT to power off; only root may send them. */
const powerScript = `#!/bin/sh
signal=INT
case "\${0##*/} $*" in
  *" -c"*) exit 0 ;;
  reboot*|*" -r"*) signal=HUP ;;
esac
kill -0 1 2>/dev/null || { echo "\${0##*/}: Operation not permitted" >&2; exit 1; }
# Delayed, so that the caller's session receives its exit status. SIGHUP from its closing terminal is ignored.
trap '' HUP
setsid sh -c "sleep 0.2; kill -$signal 1" </dev/null >/dev/null 2>&1 &
`
