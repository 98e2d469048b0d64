import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import { type JobRun, readPlaybookBundle, recordGitCommit, type UnpackedFile } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'
import { gitLogin } from '../../node-access.ts'
import type { RunDirectory } from '../run-directory.ts'
import { confined, refuseWaysOut, SourceError } from './confine.ts'
import { checkOut } from './git.ts'
import { openGitAccess } from './git-login.ts'

/** Where a run's playbook lies: the root of its source and its own real path, which is below it. */
export type Source = { root: string; playbook: string }

type Place = RunDirectory & { playbooks: string; signal: AbortSignal; protocols?: string[] }

/**
 * Put a run's playbook where ansible-playbook can read it. What others wrote is copied into the run's private directory first, and
 * its paths are followed there: nobody can change it between the look and the use. The product's own playbooks are used in place.
 * @throws SourceError, AbortError
 */
export async function materialise(ctx: Ctx, run: JobRun, token: string, place: Place): Promise<Source> {
  const root = run.source === 'shipped' ? place.playbooks : join(place.dir, 'project')
  if (run.source === 'bundle') await writeFiles(root, await patiently(() => readPlaybookBundle(ctx, run.bundleId!)))
  if (run.source === 'git') {
    const commit = await fetchAs(ctx, run, { ...place, root })
    await refuseWaysOut(root)
    await patiently(() => recordGitCommit(ctx, { id: run.id, token, commit }))
  }
  const where = {
    shipped: "the worker's ANSIBLE_PLAYBOOK_REPO_PATH",
    bundle: 'the bundle',
    git: `${run.gitRef} of the repository`,
  }
  return { root, playbook: await confined(root, run.playbookPath, where[run.source]) }
}

/** @returns the commit that was fetched, signed in with the credential of the run where it has one */
async function fetchAs(ctx: Ctx, run: JobRun, place: Place & { root: string }): Promise<string> {
  const [url, ref] = [run.gitUrl!, run.gitCommit ?? run.gitRef!]
  if (!run.gitCredentialId) return checkOut(url, ref, place)
  const login = await gitLogin(ctx, run.gitCredentialId, url).catch((error: unknown) => {
    throw error instanceof DomainError ? new SourceError(error.message) : error
  })
  const access = await openGitAccess(url, login, place)
  try {
    return await checkOut(url, ref, { ...place, access: access.env })
  } finally {
    await access.close()
  }
}

/** Paths were checked when the archive was read, and there are no links: each lands below `root`, which is made here. */
export async function writeFiles(root: string, files: UnpackedFile[]): Promise<void> {
  await mkdir(root, { mode: 0o700 })
  for (const { path, bytes, isExecutable } of files) {
    await mkdir(dirname(join(root, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(root, path), bytes, { flag: 'wx', mode: isExecutable ? 0o700 : 0o600 })
  }
}
