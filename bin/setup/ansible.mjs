import fs from 'node:fs'
import path from 'node:path'
import { python, root, tool } from './paths.mjs'
import { Ended, exec, fingerprint, once, progress, StepFailed, step } from './step.mjs'
import { install, which } from './system-packages.mjs'

const requirements = path.join(root, 'playbooks/requirements.txt')
const own = path.join(python, 'bin/ansible-playbook')
const description = path.join(python, 'muster.json')
const substitute = path.join(tool, 'system-ansible.json')
const OLDEST = [2, 14]

/**
 * The ansible-playbook that runs use: our own from PyPI, pinned by playbooks/requirements.txt, else the system's when it is new enough.
 * @returns {Promise<{path: string, version: string}>}
 */
export async function ansible() {
  const outputs = [own, made().interpreter ?? own]
  const key = fingerprint([requirements], [python]) // its scripts name the folder that they were made in
  const chosen = remembered(key)
  if (chosen) return chosen
  let problem
  try {
    await once({ name: 'ansible', key, outputs }, () => step('Install Ansible from PyPI', installOwn))
    return { path: own, version: made().version }
  } catch (error) {
    if (error instanceof Ended) throw error
    problem = error
  }
  const found = await fromSystem()
  if (found) {
    progress.out.write(
      `  Playbooks run with the system's ansible-core ${found.version} (${found.path}). Remove ${substitute} to try PyPI again.\n`,
    )
    fs.writeFileSync(substitute, JSON.stringify({ key, ...found }))
    return found
  }
  problem.hint = [
    'PyPI must be reachable (`python3 -m pip download ansible-core` shows whether it is) and Python have venv (Debian: python3-venv),',
    `or install an ansible-core >= ${OLDEST.join('.')} yourself: the package is called ansible-core, or ansible.`,
  ].join('\n')
  throw problem
}

/**
 * ansible-lint for the tests, in an environment of its own. Its path; undefined where there is none for this Python or PyPI cannot be
 * reached, and then the test that wants it is skipped.
 */
export async function ansibleLint() {
  const folder = path.join(tool, 'lint')
  const program = path.join(folder, 'bin/ansible-lint')
  const pinned = path.join(root, 'playbooks/requirements-lint.txt')
  try {
    await once({ name: 'lint', key: fingerprint([pinned], [folder]), outputs: [program] }, () =>
      step('Install ansible-lint from PyPI', async () => {
        const host = await choosePython()
        if (/^3\.(9|10)\./.test(host.version)) throw new StepFailed(`It wants Python >= 3.11, and this is ${host.version}`)
        await fillEnvironment(folder, host, pinned)
      }),
    )
    return program
  } catch (error) {
    if (error instanceof Ended) throw error
    progress.out.write('  Tests go on without ansible-lint.\n')
    return undefined
  }
}

/** The system's Ansible that an earlier start had to take: asking PyPI again each time could cost a minute. */
function remembered(key) {
  try {
    const { key: then, ...found } = JSON.parse(fs.readFileSync(substitute, 'utf8'))
    return then === key && fs.existsSync(found.path) ? found : undefined
  } catch {
    return undefined
  }
}

/** What our environment was made with. The interpreter disappears when the system moves to another Python. */
function made() {
  try {
    return JSON.parse(fs.readFileSync(description, 'utf8'))
  } catch {
    return {}
  }
}

/** The newest Python from 3.11 on, else any from 3.9. Each is run: a shim on PATH may stand for one that is not there. */
async function choosePython() {
  let best
  for (const name of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.14', 'python3.10', 'python3.9']) {
    const file = which(name)
    if (!file) continue
    const version = await exec([file, '-c', 'import sys; print("%d.%d.%d" % sys.version_info[:3])']).then(
      (text) => text.trim(),
      () => '',
    )
    const minor = /^3\.(\d+)\./.exec(version)?.[1]
    if (!minor || Number(minor) < 9) continue
    if (Number(minor) >= 11) return { path: file, version }
    best ??= { path: file, version }
  }
  if (best) return best
  throw new StepFailed('Muster needs Python >= 3.9 for Ansible', { hint: 'Install python3, then run the same command again.' })
}

async function installOwn() {
  const host = await choosePython()
  await fillEnvironment(python, host, requirements)
  const version = await versionOf(own)
  fs.writeFileSync(description, JSON.stringify({ version, interpreter: fs.realpathSync(path.join(python, 'bin/python')) }))
  return { note: `${version}, Python ${host.version}` }
}

/** A Python environment of its own in `folder`, anew, with what a file of pinned requirements names. */
async function fillEnvironment(folder, host, pinned) {
  fs.rmSync(folder, { recursive: true, force: true })
  const wheels = [
    'install',
    '--quiet',
    '--no-compile',
    '--prefer-binary',
    '--require-hashes',
    '--disable-pip-version-check',
    '--retries=2',
    '-r',
    pinned,
  ]
  try {
    await makeEnvironment(folder, host)
    await exec([path.join(folder, 'bin/python'), '-m', 'pip', ...wheels])
  } catch (error) {
    if (error instanceof Ended || fs.existsSync(path.join(folder, 'bin/pip'))) throw error
    // Debian keeps venv's ensurepip in a package of its own. The host's pip, when there is one, can fill an environment without it.
    fs.rmSync(folder, { recursive: true, force: true })
    await exec([host.path, '-m', 'venv', '--without-pip', folder])
    await exec([host.path, '-m', 'pip', '--python', path.join(folder, 'bin/python'), ...wheels])
  }
}

async function makeEnvironment(folder, host) {
  const make = () => exec([host.path, '-m', 'venv', folder])
  try {
    await make()
  } catch (error) {
    if (error instanceof Ended || process.getuid?.() !== 0 || !which('apt-get')) throw error
    await install('apt', ['python3-venv'])
    fs.rmSync(folder, { recursive: true, force: true })
    await make()
  }
}

/** The system's Ansible; as root it is installed when there is none. */
async function fromSystem() {
  const usable = async () => {
    const file = which('ansible-playbook')
    if (!file || file === own) return undefined
    const version = await versionOf(file).catch(() => '')
    const [major, minor] = version.split('.').map(Number)
    return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]) ? { path: file, version } : undefined
  }
  const found = await usable()
  if (found || process.getuid?.() !== 0) return found
  const installer = which('apt-get') ? 'apt' : which('dnf') ? 'dnf' : undefined
  if (!installer) return undefined
  return await step('Install the system’s Ansible instead', async () => {
    await install(installer, ['ansible-core'])
    return await usable()
  }).catch(() => undefined)
}

/** "2.19.14" from `ansible-playbook [core 2.19.14]`. */
async function versionOf(file) {
  const text = await exec([file, '--version'])
  return /core ([\d.]+\d)/.exec(text)?.[1] ?? ''
}
