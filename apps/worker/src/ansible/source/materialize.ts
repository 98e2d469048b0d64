import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import type { LocalTarget } from '@muster/core/outbound'
import { retryTransient } from '@muster/core/retry-transient'
import { type JobRun, recordGitCommit } from '@muster/core/runs'
import { readPlaybookBundle, type UnpackedFile } from '@muster/core/templates'
import { gitLogin } from '../../node-access.ts'
import type { Isolation } from '../isolation/isolation.ts'
import type { RunDirectory } from '../run-directory/run-paths.ts'
import { checkOutRepository, resolveRepository } from './check-out.ts'
import { assertConfined, confined, REPOSITORY_LIMITS, type RepositoryLimits, SourceError } from './confine.ts'
import { openGitAccess } from './git-access.ts'

/** The root folder of a run's playbook source, and the real path of the playbook below it. */
export type Source = { root: string; playbook: string }

type SourceOptions = {
  directory: RunDirectory
  playbooks: string
  isolation: Isolation
  signal: AbortSignal
  protocols?: string[]
  /** Local addresses that repositories and secret stores may have. */
  localTargets: readonly LocalTarget[]
  limits?: RepositoryLimits
}

/**
 * Provides a run's playbook to ansible-playbook. Content from users is copied to the run's private directory before its paths are
 * checked, so that it cannot change between check and use. Shipped playbooks are used in place.
 * @throws SourceError, AbortError
 */
export async function materialize(ctx: Ctx, run: JobRun, token: string, options: SourceOptions): Promise<Source> {
  const root = run.source === 'shipped' ? options.playbooks : join(options.directory.dir, 'project')
  if (run.source === 'bundle') await writeFiles(root, await retryTransient(() => readPlaybookBundle(ctx, run.bundleId!)))
  if (run.source === 'git') {
    const commit = await fetchRepository(ctx, run, { ...options, root })
    await assertConfined(root, options.limits)
    await retryTransient(() => recordGitCommit(ctx, { id: run.id, token, commit }))
  }
  const where = {
    shipped: "the worker's ANSIBLE_PLAYBOOK_REPO_PATH",
    bundle: 'the bundle',
    git: `${run.gitRef} of the repository`,
  }
  return { root, playbook: await confined(root, run.playbookPath, where[run.source]) }
}

/** @returns the fetched commit; git signs in with the run's credential, if it has one */
async function fetchRepository(ctx: Ctx, run: JobRun, given: SourceOptions & { root: string }): Promise<string> {
  const [url, ref] = [run.gitUrl!, run.gitCommit ?? run.gitRef!]
  const address = await resolveRepository(url, given.localTargets)
  const options = { ...given, address, limits: given.limits ?? REPOSITORY_LIMITS }
  if (!run.gitCredentialId) {
    if (new URL(url).protocol === 'ssh:')
      throw new SourceError(
        `The repository ${url} needs a credential: git does not use the keys of the worker. Give the template one of the kind GIT with a key and the host key of the server.`,
      )
    return checkOutRepository(url, ref, options)
  }
  const login = await gitLogin(ctx, given.localTargets, run.gitCredentialId, url).catch((error: unknown) => {
    throw error instanceof DomainError ? new SourceError(error.message) : error
  })
  const access = await openGitAccess(url, login, { ...options.directory, address })
  try {
    return await checkOutRepository(url, ref, { ...options, access: access.env })
  } finally {
    await access.close()
  }
}

/** Writes unpacked files below `root`, which is created here. Their paths were checked when the archive was read; links are excluded. */
export async function writeFiles(root: string, files: UnpackedFile[]): Promise<void> {
  await mkdir(root, { mode: 0o700 })
  for (const { path, bytes, isExecutable } of files) {
    await mkdir(dirname(join(root, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(root, path), bytes, { flag: 'wx', mode: isExecutable ? 0o700 : 0o600 })
  }
}
