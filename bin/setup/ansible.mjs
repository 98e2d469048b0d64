import fs from 'node:fs'
import path from 'node:path'
import { python, root, tool } from './paths.mjs'
import { Aborted, ensureStep, exec, fingerprint, progress, StepFailed, step } from './step.mjs'
import { install, which } from './system-packages.mjs'

const requirements = path.join(root, 'playbooks/requirements.txt')
const installed = path.join(python, 'bin/ansible-playbook')
const installInfo = path.join(python, 'muster.json')
const fallback = path.join(tool, 'system-ansible.json')
const OLDEST = [2, 14]

/**
 * Returns the ansible-playbook for job runs: installed from PyPI as pinned in playbooks/requirements.txt, or else the system's when it
 * is new enough.
 * @returns {Promise<{path: string, version: string}>}
 */
export async function ansible() {
  const outputs = [installed, readInstallInfo().interpreter ?? installed]
  const key = fingerprint([requirements], [python]) // the scripts of a Python environment contain its path
  const cached = readFallback(key)
  if (cached) return announceFallback(cached)
  let problem
  try {
    await ensureStep({ name: 'ansible', key, outputs }, () => step('Install Ansible from PyPI', installFromPypi))
    return { path: installed, version: readInstallInfo().version }
  } catch (error) {
    if (error instanceof Aborted) throw error
    problem = error
  }
  const found = await findOrInstallSystemAnsible()
  if (found) {
    fs.writeFileSync(fallback, JSON.stringify({ key, ...found }))
    return announceFallback(found)
  }
  problem.hint = [
    'Check that PyPI is reachable (`python3 -m pip download ansible-core`) and that Python has venv (Debian: python3-venv),',
    `or install ansible-core >= ${OLDEST.join('.')} (package ansible-core or ansible).`,
  ].join('\n')
  throw problem
}

/**
 * Installs ansible-lint for tests in its own Python environment and returns its path. Undefined when this Python is too old or PyPI is
 * unreachable; the test that needs it is skipped then.
 */
export async function ansibleLint() {
  const folder = path.join(tool, 'lint')
  const program = path.join(folder, 'bin/ansible-lint')
  const pinned = path.join(root, 'playbooks/requirements-lint.txt')
  try {
    await ensureStep({ name: 'lint', key: fingerprint([pinned], [folder]), outputs: [program] }, () =>
      step('Install ansible-lint from PyPI', async () => {
        const host = await choosePython()
        if (/^3\.(9|10)\./.test(host.version))
          throw new StepFailed(`ansible-lint requires Python >= 3.11; this is ${host.version}`)
        await createEnvironment(folder, host, pinned)
      }),
    )
    return program
  } catch (error) {
    if (error instanceof Aborted) throw error
    progress.out.write('  ansible-lint cannot be installed here, so playbooks are not checked.\n')
    return undefined
  }
}

/** Each start says that the pinned version with checksums is not in use. */
function announceFallback(found) {
  progress.out.write(
    `  Playbooks run with the system's ansible-core ${found.version} (${found.path}) instead of the pinned one from PyPI. Remove ${fallback} to try PyPI again.\n`,
  )
  return found
}

/** The system's Ansible that an earlier start fell back to. Retrying PyPI at each start could take a minute. */
function readFallback(key) {
  try {
    const { key: cachedKey, ...found } = JSON.parse(fs.readFileSync(fallback, 'utf8'))
    return cachedKey === key && fs.existsSync(found.path) ? found : undefined
  } catch {
    return undefined
  }
}

/** Version and interpreter of the installed environment. The interpreter disappears when the system upgrades Python. */
function readInstallInfo() {
  try {
    return JSON.parse(fs.readFileSync(installInfo, 'utf8'))
  } catch {
    return {}
  }
}

/** Returns a Python >= 3.11, or else one >= 3.9. Runs each candidate, because a shim on PATH may point to a missing Python. */
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
  throw new StepFailed('Ansible requires Python >= 3.9', { hint: 'Install python3, then run the command again.' })
}

async function installFromPypi() {
  const host = await choosePython()
  await createEnvironment(python, host, requirements)
  const version = await ansibleVersion(installed)
  fs.writeFileSync(installInfo, JSON.stringify({ version, interpreter: fs.realpathSync(path.join(python, 'bin/python')) }))
  return { note: `${version}, Python ${host.version}` }
}

/** Recreates a Python environment in `folder` and installs a file of pinned requirements. */
async function createEnvironment(folder, host, pinned) {
  fs.rmSync(folder, { recursive: true, force: true })
  const installArgs = [
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
    await createVenv(folder, host)
    await exec([path.join(folder, 'bin/python'), '-m', 'pip', ...installArgs])
  } catch (error) {
    if (error instanceof Aborted || fs.existsSync(path.join(folder, 'bin/pip'))) throw error
    // Debian packages ensurepip separately. Without it, the host's pip can install into the environment.
    fs.rmSync(folder, { recursive: true, force: true })
    await exec([host.path, '-m', 'venv', '--without-pip', folder])
    await exec([host.path, '-m', 'pip', '--python', path.join(folder, 'bin/python'), ...installArgs])
  }
}

async function createVenv(folder, host) {
  const create = () => exec([host.path, '-m', 'venv', folder])
  try {
    await create()
  } catch (error) {
    if (error instanceof Aborted || process.getuid?.() !== 0 || !which('apt-get')) throw error
    await install('apt', ['python3-venv'])
    fs.rmSync(folder, { recursive: true, force: true })
    await create()
  }
}

/** Returns the system's Ansible, if new enough. Root installs it when it is missing. */
async function findOrInstallSystemAnsible() {
  const find = async () => {
    const file = which('ansible-playbook')
    if (!file || file === installed) return undefined
    const version = await ansibleVersion(file).catch(() => '')
    const [major, minor] = version.split('.').map(Number)
    return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]) ? { path: file, version } : undefined
  }
  const found = await find()
  if (found || process.getuid?.() !== 0) return found
  const installer = which('apt-get') ? 'apt' : which('dnf') ? 'dnf' : undefined
  if (!installer) return undefined
  return await step('Install Ansible from system packages', async () => {
    await install(installer, ['ansible-core'])
    return await find()
  }).catch(() => undefined)
}

/** Returns "2.19.14" from `ansible-playbook [core 2.19.14]`. */
async function ansibleVersion(file) {
  const text = await exec([file, '--version'])
  return /core ([\d.]+\d)/.exec(text)?.[1] ?? ''
}
