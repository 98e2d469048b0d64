import {
  type ConnectionTest,
  finishConnectionTest,
  type OfferedHostKey,
  type PreflightStage,
  recordOfferedHostKey,
  recordPreflightStage,
  startConnectionTest,
} from '@muster/core/connections'
import type { Ctx } from '@muster/core/context'
import type { NodeAccess } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { connectionTestDuration } from '../metrics.ts'
import { nodeAccess } from '../node-access.ts'
import type { BastionPool } from '../ssh/bastion-pool.ts'
import { checkAccount } from '../ssh/check-account.ts'
import type { Session } from '../ssh/exec.ts'
import { openSession } from '../ssh/open-session.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & { bastions: BastionPool }
type Outcome = { isOk: boolean; error: string | null; awaitsApproval?: boolean }

/**
 * Tests the connection to a node stage by stage and records each stage when it ends. The test passes when the node's shell runs
 * commands, because discovery needs neither sudo nor Python. The stages for these two only show whether playbooks can run.
 */
export function connectionTestHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const { id } = entry
    const ctx = workerCtx(deps, entry)
    const test = await retryTransient(() => startConnectionTest(ctx, { id }))
    if (!test) return
    const startedAt = performance.now()
    const outcome = await runStages(ctx, deps, test)
    await retryTransient(() => finishConnectionTest(ctx, { id, ...outcome }))
    connectionTestDuration.observe({ result: outcome.isOk ? 'ok' : 'failed' }, (performance.now() - startedAt) / 1000)
  }
}

/** Runs the stages and records each. `error` is for the operator. */
async function runStages(
  ctx: Ctx,
  { config, bastions, stopping }: Deps,
  { id, nodeId, credentialId }: ConnectionTest,
): Promise<Outcome> {
  const access = (await nodeAccess(ctx, config.LOCAL_TARGETS, [nodeId], credentialId)).get(nodeId)!
  if (access instanceof DomainError) return { isOk: false, error: access.message }
  const record = async (offered: OfferedHostKey | null | undefined) => {
    // A credential under test may use another bastion that leads to another machine: its key is not the node's.
    if (!offered || (credentialId && offered.objectType === 'ComputeNode')) return
    await retryTransient(() => recordOfferedHostKey(ctx, offered))
  }
  // Stages are recorded in order, without making the test wait for the database.
  let recorded = Promise.resolve()
  const onStage = (stage: PreflightStage) => {
    recorded = recorded.then(async () => {
      await retryTransient(() => recordPreflightStage(ctx, { id, stage }))
      await record(resolvedAlarm(stage, access))
    })
    // Awaited below; until then a failure must not count as unhandled.
    recorded.catch(() => {})
  }
  const options = { timeoutMs: config.SSH_TIMEOUT * 1000, signal: stopping, onStage }
  let session: Session | null = null
  let failure: SshFailure | null = null
  try {
    session = await openSession(access, { ...options, bastions, showHostKey: true })
    await checkAccount(session, access.become, options)
  } catch (error) {
    if (stopping.aborted) return { isOk: false, error: 'The worker was stopped during the test; test again.' }
    if (!(error instanceof SshFailure)) throw error
    failure = error
  } finally {
    session?.close()
  }
  await recorded
  await record(failure?.offered)
  if (!failure) return { isOk: true, error: null }
  return { isOk: false, error: failure.summary, awaitsApproval: failure.offered !== null && !failure.offered.changed }
}

/** The machine that presented its approved key in this stage, which resolves its host key alarm; otherwise null. */
function resolvedAlarm({ stage, state, hop }: PreflightStage, { node, hops }: NodeAccess): OfferedHostKey | null {
  if (stage !== 'HOST_KEY' || state !== 'OK') return null
  if (hop === null)
    return node.hostKey && node.offeredHostKey ? { objectType: 'ComputeNode', objectId: node.id, key: node.hostKey } : null
  const bastion = hops.find(({ name }) => name === hop)
  return bastion?.hostKey && bastion.offeredHostKey
    ? { objectType: 'Credential', objectId: bastion.credentialId, key: bastion.hostKey }
    : null
}
