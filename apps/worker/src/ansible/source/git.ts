import { spawn } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { signal } from '../processes.ts'
import { SourceError } from './confine.ts'

const TIMEOUT_MS = 300_000
const MAX_SAID = 64 * 1024

export type GitPlace = {
  /** A new folder for the files, made here. */
  root: string
  /** The run's private directory; git's home. */
  dir: string
  /** `NAME=value` in the environment of every process of the run. */
  marker: string
  signal: AbortSignal
  /** How repositories may be reached, by git's names. */
  protocols?: string[]
  /** What signs git in, see `openGitAccess`; none: as anybody, or over ssh as the user that the worker runs as. */
  access?: NodeJS.ProcessEnv
}

/**
 * Put the files of a repository at `ref` into `root`, without its history.
 * @param ref a branch, a tag or a commit
 * @returns the commit that it is
 * @throws SourceError with what git said; AbortError when `signal` ended it
 */
export async function checkOut(url: string, ref: string, place: GitPlace): Promise<string> {
  const { root } = place
  await mkdir(root, { mode: 0o700 })
  const git = (...args: string[]) => runGit(args, place)
  try {
    await git('init', '--quiet', '--template=')
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', url, ref)
    const commit = (await git('rev-parse', '--verify', '--end-of-options', 'FETCH_HEAD^{commit}')).trim()
    await git('checkout', '--quiet', '--force', '--detach', commit)
    // What is left is plain files: no configuration and no hook of git's.
    await rm(join(root, '.git'), { recursive: true, force: true })
    return commit
  } catch (error) {
    place.signal.throwIfAborted()
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const why = missing ? 'git is not installed on the worker' : (error as Error).message
    throw new SourceError(`The repository ${url} could not be fetched at ${ref}: ${why}`)
  }
}

/** Nothing of a repository is ever executed: no hooks, no filters, no submodules, no helpers; and nobody is asked anything. */
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
  { root, dir, marker, signal: aborting, protocols = ['https', 'ssh'], access }: GitPlace,
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
      ...(access ?? AS_OURSELVES),
      [markerName]: markerValue,
    },
  })
  let out = ''
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (out = (out + text).slice(0, MAX_SAID)))
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-MAX_SAID)))
  const kill = () => child.pid && signal(-child.pid, 'SIGKILL')
  const timer = setTimeout(() => {
    said += `\nit took longer than ${TIMEOUT_MS / 1000} s`
    kill()
  }, TIMEOUT_MS)
  aborting.addEventListener('abort', kill)
  if (aborting.aborted) kill()
  return new Promise<string>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(lastWords(said) || `git ended with code ${code}`))))
  }).finally(() => {
    clearTimeout(timer)
    aborting.removeEventListener('abort', kill)
  })
}

/** Keys and known hosts of the user that the worker runs as; whoever is not known there is not talked to. */
const AS_OURSELVES = {
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oClearAllForwardings=yes -oPermitLocalCommand=no',
}

/** git says why in its first line that begins with fatal or error, where there is one; what ssh said stands before it. */
function lastWords(said: string): string {
  const lines = said.trim().split('\n')
  const ssh = lines.find((line) => /^(Host key verification failed|ssh: |\S+: Permission denied)/.test(line))
  const git = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
  return [...(ssh ? [ssh.trim()] : []), git].join(' ').slice(0, 500)
}
