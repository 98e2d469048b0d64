import fs from 'node:fs'
import path from 'node:path'
import { exec, StepFailed, step } from './step.mjs'

/** The browser without its own windows and bars, which would render beside every page; Fedora has only the whole one. */
const browser = which('dnf') ? 'chromium' : 'chromium-headless-shell'

/** Programs that do not come from npm or PyPI: where to look for them, and which package has them. The one list of them. */
const PROGRAMS = {
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
  rpm: { find: ['rpmbuild'], apt: ['rpm'], dnf: ['rpm-build'] },
  chromium: { find: [browser], apt: [browser], dnf: [browser] },
}

/** What each kind of work needs. Without root the lab is plain sshd processes on loopback and needs no namespaces. */
export const needs = {
  run: ['ssh', 'python'],
  lab:
    process.getuid?.() === 0
      ? ['ssh', 'python', 'sshd', 'ip', 'sudo', 'unshare', 'openssl']
      : ['ssh', 'python', 'sshd', 'openssl'],
}
// Packages are installed only on nodes of a lab that root has, from repositories that are signed; and playbooks are isolated there.
needs.test = [...needs.lab, ...(process.getuid?.() === 0 ? ['gpg', 'bwrap'] : []), 'promtool', 'dpkg', 'rpm', 'chromium']

/** Install what is missing, where we may (root, apt or dnf); else throw StepFailed that names it and the command to type. */
export async function systemPackages(names) {
  const missing = names.filter((name) => PROGRAMS[name].find.some((program) => !which(program)))
  if (missing.length === 0) return
  const installer = which('apt-get') ? 'apt' : which('dnf') ? 'dnf' : undefined
  const wanted = [...new Set(missing.flatMap((name) => PROGRAMS[name][installer ?? 'apt']))]
  const what = missing.flatMap((name) => PROGRAMS[name].find.filter((program) => !which(program))).join(', ')
  if (!installer) throw new StepFailed(`Missing: ${what}`, { hint: 'Install these programs, then run the same command again.' })
  const command = installer === 'apt' ? `apt-get install ${wanted.join(' ')}` : `dnf install ${wanted.join(' ')}`
  if (process.getuid?.() !== 0)
    throw new StepFailed(`Missing: ${what}`, { hint: `sudo ${command}\nthen run the same command again.` })
  await step(`Install ${wanted.join(', ')}`, () => install(installer, wanted))
  const still = missing.flatMap((name) => PROGRAMS[name].find.filter((program) => !which(program)))
  if (still.length)
    throw new StepFailed(`Still missing after \`${command}\`: ${still.join(', ')}`, { hint: 'Install them by hand.' })
}

/** Install packages as root. apt's lists are fetched only when it does not know a package. */
export async function install(installer, names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const hint = 'The package mirror must be reachable.'
  if (installer === 'dnf')
    return await exec(['dnf', 'install', '-y', '--setopt=install_weak_deps=False', ...names], { env, hint })
  const apt = ['apt-get', 'install', '-y', '-q', '--no-install-recommends', ...names]
  try {
    return await exec(apt, { env })
  } catch {
    await exec(['apt-get', 'update', '-q'], { env, hint })
    return await exec(apt, { env, hint })
  }
}

/** The full path of a program, also where a normal user's PATH does not look; undefined when there is none. */
export function which(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/sbin', '/usr/local/sbin']
  for (const folder of folders) {
    const file = path.join(folder, program)
    try {
      fs.accessSync(file, fs.constants.X_OK)
      if (fs.statSync(file).isFile()) return file
    } catch {
      // not here
    }
  }
}
