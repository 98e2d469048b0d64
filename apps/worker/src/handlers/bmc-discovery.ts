import { randomUUID } from 'node:crypto'
import type { BmcLogin } from '@muster/core/credentials'
import { DomainError } from '@muster/core/errors'
import { claimBmcDiscovery, finishBmcDiscovery, type ProbedBmc, recordFoundBmcs } from '@muster/core/power'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import type { BmcLogins } from '../redfish/open-driver.ts'
import { probeBmc } from '../redfish/probe-bmc.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

/** Addresses that are asked at once, and recorded together. */
const AT_ONCE = 32
/** Most addresses of a range do not answer. */
const TIMEOUT_MS = 8000

type Deps = Omit<WorkerDeps<Pick<NodeConfig, 'LOCAL_TARGETS'>>, 'listener'> & { logins: BmcLogins }

/** Searches addresses for BMCs. A search that the worker cannot end is continued by another one after the claim expires. */
export function bmcDiscoveryHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const claim = { id: entry.id, token: randomUUID() }
    const claimed = await retryTransient(() => claimBmcDiscovery(ctx, claim))
    if (!claimed) return
    const { discovery, addresses } = claimed
    const limits = { localTargets: deps.config.LOCAL_TARGETS, signal: deps.stopping, timeoutMs: TIMEOUT_MS }
    try {
      const login: BmcLogin | null = discovery.credentialId ? await deps.logins.open(ctx, discovery.credentialId, limits) : null
      for (let i = 0; i < addresses.length; i += AT_ONCE) {
        const batch = addresses.slice(i, i + AT_ONCE)
        const found = await Promise.all(batch.map((address) => probeBmc(address, discovery, login, limits)))
        const next = { probed: batch.length, found: found.filter((bmc): bmc is ProbedBmc => bmc !== null) }
        const answer = await retryTransient(() => recordFoundBmcs(ctx, { ...claim, ...next }))
        if (answer === 'LOST') return
        if (answer === 'CANCELED') break
      }
      await retryTransient(() => finishBmcDiscovery(ctx, { ...claim, error: null }))
    } catch (error) {
      if (deps.stopping.aborted) return
      if (!(error instanceof DomainError)) throw error
      await retryTransient(() => finishBmcDiscovery(ctx, { ...claim, error: error.message }))
    }
  }
}
