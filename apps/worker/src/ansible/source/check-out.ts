import { spawn } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sendSignal } from '../process/processes.ts'
import { SourceError } from './confine.ts'

const TIMEOUT_MS = 300_000
const MAX_OUTPUT = 64 * 1024

export type CheckoutOptions = {
  /** Folder for the files; created here. */
  root: string
  /** The run's private directory; HOME of git. */
  dir: string
  /** `NAME=value` in the environment of every process of the run. */
  marker: string
  signal: AbortSignal
  /** Allowed protocols, by git's names. */
  protocols?: string[]
  /** Environment that signs git in, see `openGitAccess`; absent: anonymous, or over SSH as the worker's user. */
  access?: NodeJS.ProcessEnv
}

/**
 * Checks out the files of a repository at `ref` to `root`, without history.
 * @param ref a branch, a tag or a commit
 * @returns the commit ID
 * @throws SourceError with git's message; AbortError when `signal` fired
 */
export async function checkOutRepository(url: string, ref: string, options: CheckoutOptions): Promise<string> {
  const { root } = options
  await mkdir(root, { mode: 0o700 })
  const git = (...args: string[]) => runGit(args, options)
  try {
    await git('init', '--quiet', '--template=')
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', url, ref)
    const commit = (await git('rev-parse', '--verify', '--end-of-options', 'FETCH_HEAD^{commit}')).trim()
    await git('checkout', '--quiet', '--force', '--detach', commit)
    // Leave plain files only, without git's configuration and hooks.
    await rm(join(root, '.git'), { recursive: true, force: true })
    return commit
  } catch (error) {
    options.signal.throwIfAborted()
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const why = missing ? 'git is not installed on the worker' : (error as Error).message
    throw new SourceError(`The repository ${url} could not be fetched at ${ref}: ${why}`)
  }
}

/** Git executes nothing from a repository (hooks, filters, submodules, helpers) and never prompts. */
function settings(protocols: string[]): string[] {
  const values = {
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    'core.askPass': '/bin/false',
    'credential.helper': '',
    'submodule.recurse': 'false',
    'fetch.fsckObjects': 'true',
    'gc.auto': '0',
    'maintenance.auto': 'false',
    'protocol.allow': 'never',
    ...Object.fromEntries(protocols.map((name) => [`protocol.${name}.allow`, 'always'])),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

function runGit(
  args: string[],
  { root, dir, marker, signal: aborting, protocols = ['https', 'ssh'], access }: CheckoutOptions,
): Promise<string> {
  const [markerName = '', markerValue] = marker.split(/=(.*)/s)
  const child = spawn('git', [...settings(protocols), ...args], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ALLOW_PROTOCOL: protocols.join(':'),
      ...(access ?? WORKER_SSH),
      [markerName]: markerValue,
    },
  })
  let out = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (out = (out + text).slice(0, MAX_OUTPUT)))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-MAX_OUTPUT)))
  const kill = () => child.pid && sendSignal(-child.pid, 'SIGKILL')
  const timer = setTimeout(() => {
    stderr += `\nit took longer than ${TIMEOUT_MS / 1000} s`
    kill()
  }, TIMEOUT_MS)
  aborting.addEventListener('abort', kill)
  if (aborting.aborted) kill()
  return new Promise<string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(gitFailureReason(stderr) || `git ended with code ${code}`)),
    )
  }).finally(() => {
    clearTimeout(timer)
    aborting.removeEventListener('abort', kill)
  })
}

/** SSH with the keys and known hosts of the worker's user; unknown hosts are rejected. */
const WORKER_SSH = {
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oClearAllForwardings=yes -oPermitLocalCommand=no',
}

/** Git's reason is its first line that begins with fatal or error; messages of SSH come before it. */
function gitFailureReason(stderr: string): string {
  const lines = stderr.trim().split('\n')
  const ssh = lines.find((line) => /^(Host key verification failed|ssh: |\S+: Permission denied)/.test(line))
  const git = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
  return [...(ssh ? [ssh.trim()] : []), git].join(' ').slice(0, 500)
}
