import { join } from 'node:path'
import type { ArtifactStore } from '@muster/core/artifacts'
import type { Ctx } from '@muster/core/context'
import { newId } from '@muster/core/db'
import { retryTransient } from '@muster/core/retry-transient'
import { type JobRun, readJobRunLog, type StoredArtifact } from '@muster/core/runs'
import pRetry from 'p-retry'
import { type CollectedFile, copy } from './collect-files.ts'

// Longer than a store takes to restart, shorter than people wait for a finished run.
const RETRY_FOR_MS = 120_000
const RETRY_INTERVAL_MS = 1000

/** The store was unavailable for longer than the worker retries. The message is for the operator. */
export class StoreUnavailable extends Error {}

export type PersistOptions = {
  store: ArtifactStore
  /** The run's private directory. */
  dir: string
  files: CollectedFile[]
  /** The last line of the log. */
  closingLine: string | null
  /** Aborted when failed uploads must not be retried. */
  signal: AbortSignal
  retryForMs?: number | undefined
}

/**
 * Stores the complete log of a run and its files, and retries while the store is unavailable.
 * @returns the rows to insert when the run ends
 * @throws StoreUnavailable after an attempt to remove the stored files
 */
export async function persistArtifacts(ctx: Ctx, run: JobRun, options: PersistOptions): Promise<StoredArtifact[]> {
  const { store, dir, files, closingLine, signal, retryForMs = RETRY_FOR_MS } = options
  const file = join(dir, 'log.txt')
  const log = await retryTransient(async () => copy(completeLog(await readJobRunLog(ctx, run.id, 'text'), closingLine), file))
  const deadline = Date.now() + retryForMs
  const stored: StoredArtifact[] = []
  try {
    for (const one of [
      { kind: 'log' as const, path: 'log.txt', file, ...log },
      ...files.map((f) => ({ kind: 'file' as const, ...f })),
    ]) {
      const id = newId()
      const key = `${run.tenantId}/${run.id}/${id}`
      const { file: from, ...facts } = one
      stored.push({ id, ...facts, store: store.name, key })
      await putWithRetries(() => store.put(key, from, one.size), deadline, signal, ctx)
    }
    return stored
  } catch (error) {
    await removeArtifacts(ctx, store, stored)
    throw error
  }
}

/** Removes stored files of a run that another worker now owns. */
export async function removeArtifacts(ctx: Ctx, store: ArtifactStore, stored: StoredArtifact[]): Promise<void> {
  await store
    .remove(stored.map(({ key }) => key))
    .catch((err) => ctx.log.warn({ err }, 'orphaned files remain in the artifact store'))
}

async function* completeLog(log: AsyncIterable<string>, closingLine: string | null): AsyncGenerator<string> {
  yield* log
  if (closingLine !== null) yield `${closingLine}\n`
}

async function putWithRetries(put: () => Promise<void>, deadline: number, signal: AbortSignal, { log }: Ctx): Promise<void> {
  const options = {
    retries: Number.POSITIVE_INFINITY,
    factor: 1,
    minTimeout: RETRY_INTERVAL_MS,
    onFailedAttempt: ({ error }: { error: Error }) => log.warn({ err: error }, 'the artifact store rejected a file'),
    shouldRetry: () => !signal.aborted && Date.now() + RETRY_INTERVAL_MS <= deadline,
  }
  let failure: Error | null = null
  const attempt = () =>
    put().catch((error: unknown) => {
      // A programming error counts as a failure of the store too: the run must end with its cause.
      failure = new StoreUnavailable((error as Error).message)
      throw failure
    })
  // Without the signal: p-retry would reject an upload that is in progress when it aborts, and the upload may succeed.
  await pRetry(attempt, options).catch((error: unknown) => {
    throw failure ?? error
  })
}
