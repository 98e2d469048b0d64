import type { Ctx } from '@muster/core/context'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Session } from '../../ssh/exec.ts'
import { SshFailure } from '../../ssh/ssh-failure.ts'
import type { ControllerSessions } from '../controller-sessions.ts'
import { QueryFailure } from '../run-query.ts'
import { OperationFailure } from './operation.ts'
import { sessionsOf } from './sessions.ts'

type Stage = ConstructorParameters<typeof SshFailure>[0]['stage']
const failure = (stage: Stage, message = `${stage} failed.`) => new SshFailure({ stage, hop: null }, message)

/** Hosts that fail with these errors, one after the other, before the work runs there. */
function createFixture(errors: Record<string, Error[]>, backupNodeId: string | null = null) {
  const used: string[] = []
  const retries: string[] = []
  const aborted = new AbortController()
  const use: ControllerSessions['use'] = async (_ctx, nodeId, work) => {
    used.push(nodeId)
    const result = await work({} as Session)
    const error = errors[nodeId]?.shift()
    if (error) throw error
    return result
  }
  const cluster = { name: 'prod', controllerNodeId: 'ctl', backupNodeId, programFolder: null }
  const sessions = sessionsOf({} as Ctx, cluster, { use, close() {} }, aborted.signal, async ({ nodeId, message }) => {
    retries.push(`${nodeId}: ${message}`)
  })
  return { ...sessions, used, retries, aborted }
}
const done = async () => 'done'
/** The result of work that has ended. Waiting for one that has not would hang, because the clock stands still. */
const ended = (work: Promise<unknown>) => Promise.race([work, 'still running'])

describe('work on a host', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each<Stage>(['RESOLVE', 'TCP', 'BANNER', 'SHELL'])(
    'is repeated after the stage %s failed, and that is shown',
    async (stage) => {
      const { onNode, used, retries } = createFixture({ cpu: [failure(stage), failure(stage)] })
      const result = onNode('cpu', done)
      await vi.advanceTimersByTimeAsync(2999)
      expect(used).toHaveLength(2)
      await vi.advanceTimersByTimeAsync(1)
      expect(await ended(result)).toBe('done')
      expect(retries).toEqual([`cpu: ${stage} failed. Attempt 2 follows.`, `cpu: ${stage} failed. Attempt 3 follows.`])
    },
  )

  it.each([
    ['a changed host key', failure('HOST_KEY')],
    ['a rejected login', failure('AUTHENTICATION')],
    ['a controller that does not answer', new QueryFailure('HOST_KEY failed.')],
    ['a refused command', new OperationFailure('Invalid user id')],
    ['an unexpected error', new Error('a bug')],
  ])('is not repeated after %s', async (_, error) => {
    const { onNode, used, retries } = createFixture({ cpu: [error] })
    await expect(onNode('cpu', done)).rejects.toThrow(error.message)
    expect([used, retries]).toEqual([['cpu'], []])
  })

  it('fails when the connection does not come back', async () => {
    const { onNode, used } = createFixture({ cpu: Array.from({ length: 99 }, () => failure('TCP')) })
    const result = onNode('cpu', done).catch((error) => error)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await ended(result)).toEqual(new OperationFailure('TCP failed.'))
    expect(used).toHaveLength(6)
  })

  it('runs on the backup before it is repeated, and is repeated only where that can help', async () => {
    const { slurm, used } = createFixture({ ctl: [failure('AUTHENTICATION')], backup: [failure('TCP')] }, 'backup')
    const result = slurm(done)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await ended(result)).toBe('done')
    expect(used).toEqual(['ctl', 'backup', 'backup'])
  })

  it('ends during a pause when the operation is canceled', async () => {
    const { onNode, used, aborted } = createFixture({ cpu: [failure('TCP')] })
    const result = onNode('cpu', done).catch((error) => error)
    await vi.advanceTimersByTimeAsync(500)
    const reason = new OperationFailure('Canceled by admin.')
    aborted.abort(reason)
    await vi.advanceTimersByTimeAsync(0)
    expect(await ended(result)).toBe(reason)
    expect(used).toEqual(['cpu'])
  })
})
