import { mkdir, rm } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { endpointOf, type LocalTarget, resolveTarget, TargetError } from '@muster/core/outbound'
import { runProgram } from '../../executor/executor.ts'
import { sendSignal } from '../../executor/send-signal.ts'
import { returnToWorker } from '../isolation/grant-to-run-user.ts'
import type { Isolation, WrapCommand } from '../isolation/isolation.ts'
import { spawnIsolated } from '../isolation/spawn-isolated.ts'
import { killAllOfUser } from '../process/kill-leftover-processes.ts'
import type { RunDirectory } from '../run-directory/run-paths.ts'
import { type RepositoryLimits, SourceError } from './confine.ts'
import { watchSize } from './watch-size.ts'

const TIMEOUT_MS = 300_000
const MAX_OUTPUT = 64 * 1024
/** The first version with http.curloptResolve, which pins the checked address. */
const MIN_GIT = [2, 37] as const

export type CheckoutOptions = {
  /** Folder for the files; created here. */
  root: string
  /** The run's private directory; git writes only below `root`, its home and its temporary folder. */
  directory: RunDirectory
  isolation: Isolation
  signal: AbortSignal
  /** Allowed protocols, by git's names. Repositories over SSH need `access`. */
  protocols?: string[]
  /** Environment that signs git in at `address`, see `openGitAccess`; absent: anonymous. */
  access?: NodeJS.ProcessEnv
  /** The address to connect to, see `resolveRepository`. */
  address?: string | null
  limits: RepositoryLimits
}

/**
 * Resolves the server of a repository. git connects only to this address, because a second lookup could return another one.
 * @returns null for a URL with an address, or without a server
 * @throws SourceError when the name does not resolve, or the address is local and not in `localTargets`
 */
export async function resolveRepository(url: string, localTargets: readonly LocalTarget[]): Promise<string | null> {
  const parsed = new URL(url)
  const { protocol, hostname } = parsed
  if (protocol === 'file:' || !hostname) return null
  try {
    const [found] = await resolveTarget(hostname, endpointOf(parsed).port, localTargets)
    return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) ? null : found!.address
  } catch (error) {
    throw error instanceof TargetError ? new SourceError(`The repository ${url} is rejected. ${error.message}`) : error
  }
}

/**
 * Checks out the files of a repository at `ref` to `root`, without history. git runs in the sandbox of the run, without the identity,
 * settings and proxies of the worker's user.
 * @param ref a branch, a tag or a commit
 * @returns the commit ID
 * @throws SourceError with git's message or the exceeded limit; AbortError when `signal` fired
 */
export async function checkOutRepository(url: string, ref: string, options: CheckoutOptions): Promise<string> {
  const { root, directory, isolation, limits, signal } = options
  await assertGitVersion()
  await mkdir(root, { mode: 0o700 })
  // The files and the packed objects of a repository together.
  const watched = watchSize(root, { maxBytes: 2 * limits.maxBytes, maxEntries: 2 * limits.maxEntries })
  const aborting = AbortSignal.any([signal, watched.exceeded])
  const wrapCommand = await isolation.prepare(directory, { writable: [root], maxFileBytes: limits.maxBytes })
  const git = (...args: string[]) => runGit([...settings(url, options), ...args], { ...options, wrapCommand, signal: aborting })
  try {
    await git('init', '--quiet', '--template=')
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', url, ref)
    const commit = (await git('rev-parse', '--verify', '--end-of-options', 'FETCH_HEAD^{commit}')).trim()
    await git('checkout', '--quiet', '--force', '--detach', commit)
    if (directory.user) {
      await killAllOfUser(directory.user)
      await returnToWorker(root)
    }
    // Leave plain files only, without git's configuration and hooks.
    await rm(join(root, '.git'), { recursive: true, force: true })
    return commit
  } catch (error) {
    signal.throwIfAborted()
    if (watched.exceeded.aborted) throw watched.exceeded.reason
    throw new SourceError(`The repository ${url} could not be fetched at ${ref}: ${(error as Error).message}`)
  } finally {
    watched.stop()
  }
}

/** @throws SourceError when git is missing or too old */
async function assertGitVersion(): Promise<void> {
  const need = `Install git ${MIN_GIT.join('.')} or newer on the worker.`
  const { stdout } = await runProgram(['git', 'version']).catch(() => {
    throw new SourceError(`git is not installed on the worker. ${need}`)
  })
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? []
  if (!(major! > MIN_GIT[0] || (major === MIN_GIT[0] && minor! >= MIN_GIT[1])))
    throw new SourceError(`The worker has ${stdout.trim() || 'an unknown git'}. ${need}`)
}

/** Git executes nothing from a repository (hooks, filters, submodules, helpers), follows no redirects, and never prompts. */
function settings(url: string, { protocols = PROTOCOLS, access, address }: CheckoutOptions): string[] {
  const { hostname = '', port, protocol = '' } = URL.parse(url) ?? {}
  const allowed = protocols.filter((name) => name !== 'ssh' || access)
  const values = {
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    'core.askPass': '/bin/false',
    'credential.helper': '',
    'submodule.recurse': 'false',
    'fetch.fsckObjects': 'true',
    // One file that grows, so that the limit of file sizes applies.
    'fetch.unpackLimit': '1',
    'gc.auto': '0',
    'maintenance.auto': 'false',
    'http.proxy': '',
    'http.followRedirects': 'false',
    ...(address && protocol.startsWith('http')
      ? { 'http.curloptResolve': `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}:${address}` }
      : {}),
    'protocol.allow': 'never',
    ...Object.fromEntries(allowed.map((name) => [`protocol.${name}.allow`, 'always'])),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}
const PROTOCOLS = ['https', 'ssh']

async function runGit(
  args: string[],
  {
    root,
    directory: { dir, marker },
    isolation,
    wrapCommand,
    signal: aborting,
    protocols = PROTOCOLS,
    access,
  }: CheckoutOptions & { wrapCommand: WrapCommand },
): Promise<string> {
  aborting.throwIfAborted()
  const [markerName = '', markerValue] = marker.split(/=(.*)/s)
  const env = {
    PATH: process.env.PATH,
    HOME: `${dir}/home`,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_ALLOW_PROTOCOL: protocols.filter((name) => name !== 'ssh' || access).join(':'),
    ...(access ?? { GIT_SSH_COMMAND: '/bin/false' }),
    [markerName]: markerValue,
  }
  const launch = { isolation, wrapCommand, env }
  const { program, leader, exited } = await spawnIsolated(['git', '-C', root, ...args], dir, launch)
  let out = ''
  let stderr = ''
  program.outputs[0]!.setEncoding('utf8').on('data', (text) => (out = (out + text).slice(0, MAX_OUTPUT)))
  program.outputs[1]!.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-MAX_OUTPUT)))
  program.outputs[2]!.resume()
  const kill = () => void leader.then((pid) => sendSignal(-pid, 'SIGKILL'))
  const timer = setTimeout(() => {
    stderr += `\nit took longer than ${TIMEOUT_MS / 1000} s`
    kill()
  }, TIMEOUT_MS)
  aborting.addEventListener('abort', kill)
  if (aborting.aborted) kill()
  try {
    await program.closed
    const code = await exited
    aborting.throwIfAborted()
    if (code !== 0) throw new Error(gitFailureReason(stderr) || `git ended with code ${code}`)
    return out
  } finally {
    clearTimeout(timer)
    aborting.removeEventListener('abort', kill)
  }
}

/** Git's reason is its first line that begins with fatal or error; messages of SSH come before it. */
function gitFailureReason(stderr: string): string {
  const lines = stderr.trim().split('\n')
  const ssh = lines.find((line) => /^(Host key verification failed|ssh: |\S+: Permission denied)/.test(line))
  const git = lines.find((line) => /^(fatal|error):/.test(line)) ?? lines.at(-1) ?? ''
  const redirect = /redirect|returned error: 30\d/i.test(stderr)
    ? ' Redirects are not followed; use the final URL of the repository.'
    : ''
  const certificate = /certificate/i.test(git)
    ? " Use a name that the certificate has, renew it, or add its CA to the worker's system certificates."
    : ''
  return `${[...(ssh ? [ssh.trim()] : []), git].join(' ').slice(0, 500)}${redirect}${certificate}`
}
