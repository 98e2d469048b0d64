import type { Ctx } from '@muster/core/context'
import type { NodeAccess } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import {
  type ConnectionTest,
  finishConnectionTest,
  type OfferedHostKey,
  type PreflightStage,
  recordOfferedHostKey,
  recordPreflightStage,
  startConnectionTest,
} from '@muster/core/nodes'
import { patiently } from '@muster/core/patiently'
import type { QueueEntry } from '@muster/core/queue'
import { connectionTestDuration } from '../metrics.ts'
import { nodeAccess } from '../node-access.ts'
import type { Bastions } from '../ssh/bastions.ts'
import { checkAccount } from '../ssh/check-account.ts'
import type { Session } from '../ssh/exec.ts'
import { SshFailure } from '../ssh/failure.ts'
import { openSession } from '../ssh/open-session.ts'
import { type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<{ SSH_TIMEOUT: number }>, 'listener'> & { bastions: Bastions }
type Outcome = { isOk: boolean; error: string | null; awaitsApproval?: boolean }

/**
 * Test the connection to a node, stage by stage; each is written down as it ends. The test is passed when the node's
 * shell runs commands: without sudo or Python it can be looked at, and those stages say what playbooks will miss.
 */
export function connectionTestHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const { id } = entry
    const ctx = workerCtx(deps, entry)
    const test = await patiently(() => startConnectionTest(ctx, { id }))
    if (!test) return
    const begun = performance.now()
    const outcome = await walk(ctx, deps, test)
    await patiently(() => finishConnectionTest(ctx, { id, ...outcome }))
    connectionTestDuration.observe({ result: outcome.isOk ? 'ok' : 'failed' }, (performance.now() - begun) / 1000)
  }
}

/** Walks the stages and writes down each. `error` is for the operator. */
async function walk(
  ctx: Ctx,
  { config, bastions, stopping }: Deps,
  { id, nodeId, credentialId }: ConnectionTest,
): Promise<Outcome> {
  const access = (await nodeAccess(ctx, [nodeId], credentialId)).get(nodeId)!
  if (access instanceof DomainError) return { isOk: false, error: access.message }
  const record = async (offered: OfferedHostKey | null | undefined) => {
    // Another bastion may lead elsewhere: what is seen with a credential on trial is not the node's.
    if (!offered || (credentialId && offered.objectType === 'ComputeNode')) return
    await patiently(() => recordOfferedHostKey(ctx, offered))
  }
  // Stages are written in order but beside the test, which does not wait for the database.
  let written = Promise.resolve()
  const onStage = (stage: PreflightStage) => {
    written = written.then(async () => {
      await patiently(() => recordPreflightStage(ctx, { id, stage }))
      await record(alarmEndedBy(stage, access))
    })
    // Awaited below; until then a failure must not count as unhandled.
    written.catch(() => {})
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
  await written
  await record(failure?.offered)
  if (!failure) return { isOk: true, error: null }
  return { isOk: false, error: failure.summary, awaitsApproval: failure.offered !== null && !failure.offered.changed }
}

/** The machine that was alarmed about and has just shown its approved key again; null at any other stage or machine. */
function alarmEndedBy({ stage, state, hop }: PreflightStage, { node, hops }: NodeAccess): OfferedHostKey | null {
  if (stage !== 'HOST_KEY' || state !== 'OK') return null
  if (hop === null)
    return node.hostKey && node.offeredHostKey ? { objectType: 'ComputeNode', objectId: node.id, key: node.hostKey } : null
  const bastion = hops.find(({ name }) => name === hop)
  return bastion?.hostKey && bastion.offeredHostKey
    ? { objectType: 'Credential', objectId: bastion.credentialId, key: bastion.hostKey }
    : null
}
