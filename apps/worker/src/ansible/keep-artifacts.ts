import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ArtifactStore } from '@muster/core/artifacts'
import type { Ctx } from '@muster/core/context'
import { newId } from '@muster/core/db'
import { type JobRun, readJobRunLog, type StoredArtifact } from '@muster/core/jobs'
import { patiently } from '@muster/core/patiently'
import { type CollectedFile, copy } from './collect-files.ts'

// Longer than a store needs to be started again, shorter than people wait for a run that is over.
const PATIENCE_MS = 120_000
const AGAIN_MS = 1000

/** The store was away for longer than we wait. Its message is for the operator. */
export class StoreAway extends Error {}

export type Keeping = {
  store: ArtifactStore
  /** The run's private directory. */
  dir: string
  files: CollectedFile[]
  /** The line that will close the log. */
  said: string | null
  /** Fires when nobody wants to wait any more: what has failed is not tried again. */
  signal: AbortSignal
  patienceMs?: number | undefined
}

/**
 * Store the whole log of a run and its files, trying again while the store is away.
 * @returns what is to be written of them when the run ends
 * @throws StoreAway; then nothing of it is left in the store, as far as that can be reached
 */
export async function keepArtifacts(ctx: Ctx, run: JobRun, keeping: Keeping): Promise<StoredArtifact[]> {
  const { store, dir, files, said, signal, patienceMs = PATIENCE_MS } = keeping
  const file = join(dir, 'log.txt')
  const log = await patiently(async () => copy(wholeLog(await readJobRunLog(ctx, run.id, 'text'), said), file))
  const until = Date.now() + patienceMs
  const kept: StoredArtifact[] = []
  try {
    for (const one of [
      { kind: 'log' as const, path: 'log.txt', file, ...log },
      ...files.map((f) => ({ kind: 'file' as const, ...f })),
    ]) {
      const id = newId()
      const key = `${run.tenantId}/${run.id}/${id}`
      const { file: from, ...facts } = one
      kept.push({ id, ...facts, store: store.name, key })
      await persistently(() => store.put(key, from, one.size), until, signal, ctx)
    }
    return kept
  } catch (error) {
    await forget(ctx, store, kept)
    throw error
  }
}

/** Remove what was stored of a run that could not be ended by us. */
export async function forget(ctx: Ctx, store: ArtifactStore, kept: StoredArtifact[]): Promise<void> {
  await store
    .remove(kept.map(({ key }) => key))
    .catch((err) => ctx.log.warn({ err }, 'files stay in the artifact store that no run has'))
}

async function* wholeLog(log: AsyncIterable<string>, said: string | null): AsyncGenerator<string> {
  yield* log
  if (said !== null) yield `${said}\n`
}

async function persistently(put: () => Promise<void>, until: number, signal: AbortSignal, { log }: Ctx): Promise<void> {
  for (;;) {
    try {
      return await put()
    } catch (err) {
      log.warn({ err }, 'the artifact store does not take a file')
      if (signal.aborted || Date.now() + AGAIN_MS > until) throw new StoreAway((err as Error).message)
      await sleep(AGAIN_MS, null, { signal }).catch(() => {})
    }
  }
}
