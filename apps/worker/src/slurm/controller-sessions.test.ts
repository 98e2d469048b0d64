import type { Ctx } from '@muster/core/context'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createBastionPool } from '../ssh/bastion-pool.ts'
import type { Session } from '../ssh/exec.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { createControllerSessions } from './controller-sessions.ts'
import { QueryFailure } from './run-query.ts'

const ctx = {} as Ctx
const MINUTE = 60_000
const lost = () => new SshFailure({ stage: 'TCP', hop: null }, 'The connection was lost.')
const deferred = <T = void>() => Promise.withResolvers<T>()

/** Sessions on hosts that behave as the test says. */
function createFixture() {
  const opened: { isClosed: boolean; isDead: boolean }[] = []
  const host = { login: { blockedReason: null as string | null, version: '1' }, opening: Promise.resolve() }
  const deps = {
    config: { SSH_TIMEOUT: 1, LOCAL_TARGETS: [] },
    stopping: new AbortController().signal,
    bastions: createBastionPool(),
  }
  const sessions = createControllerSessions(deps, {
    readLogin: async () => host.login,
    async open() {
      const state = { isClosed: false, isDead: false }
      opened.push(state)
      await host.opening
      const session: Session = {
        async exec() {
          if (state.isDead) throw lost()
          const nothing = Buffer.alloc(0)
          return { stdout: nothing, stderr: nothing, code: 0, signal: null, truncated: false, timedOut: false }
        },
        connectSocket: () => Promise.reject(new Error('not used')),
        close() {
          state.isClosed = true
        },
      }
      return session
    },
  })
  /** Starts work that runs until `end` is called. */
  async function begin() {
    const [started, ending] = [deferred<Session>(), deferred()]
    const done = sessions.use(ctx, 'n1', async (session) => {
      started.resolve(session)
      await ending.promise
    })
    done.catch(started.reject)
    const session = await started.promise
    return {
      session,
      async end(error?: Error) {
        if (error) ending.reject(error)
        else ending.resolve()
        await done.catch(() => {})
      },
    }
  }
  const closed = async () => {
    // A session is closed in a microtask.
    await vi.advanceTimersByTimeAsync(0)
    return opened.map(({ isClosed }) => isClosed)
  }
  return { sessions, opened, host, begin, closed }
}

describe('sessions on controllers', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('shares one session, also while it opens', async () => {
    const { host, begin, closed } = createFixture()
    const opening = deferred()
    host.opening = opening.promise
    const both = Promise.all([begin(), begin()])
    await vi.advanceTimersByTimeAsync(0)
    opening.resolve()
    const [first, second] = await both
    expect(first.session).toBe(second.session)
    await Promise.all([first.end(), second.end()])
    expect(await closed()).toEqual([false])
  })

  test('closes an idle session 90 s after the last work ended', async () => {
    const { begin, closed } = createFixture()
    const work = await begin()
    await vi.advanceTimersByTimeAsync(5 * MINUTE)
    expect(await closed()).toEqual([false])
    await work.end()
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(await closed()).toEqual([false])
    await vi.advanceTimersByTimeAsync(MINUTE)
    expect(await closed()).toEqual([true])
  })

  test('replaces an old session for new work, and closes it after its last work', async () => {
    const { begin, closed } = createFixture()
    const long = await begin()
    await vi.advanceTimersByTimeAsync(11 * MINUTE)
    const next = await begin()
    expect(next.session).not.toBe(long.session)
    expect(await closed()).toEqual([false, false])
    await long.end()
    expect(await closed()).toEqual([true, false])
    await next.end()
  })

  test('keeps a session when its output could not be read', async () => {
    const { begin, closed } = createFixture()
    const [one, other] = [await begin(), await begin()]
    await one.end(new QueryFailure('The output is not complete.'))
    expect(await closed()).toEqual([false])
    const next = await begin()
    expect(next.session).toBe(other.session)
    await Promise.all([other.end(), next.end()])
  })

  test('gives new work another session after the connection failed', async () => {
    const { begin, closed } = createFixture()
    const [one, other] = [await begin(), await begin()]
    await one.end(lost())
    const next = await begin()
    expect(next.session).not.toBe(other.session)
    expect(await closed()).toEqual([false, false])
    await other.end(lost())
    expect(await closed()).toEqual([true, false])
    await next.end()
  })

  test('opens another session when the host has restarted', async () => {
    const { begin, opened, closed } = createFixture()
    await (await begin()).end()
    opened[0]!.isDead = true
    await (await begin()).end()
    expect(await closed()).toEqual([true, false])
  })

  test('opens again after an open failed', async () => {
    const { host, sessions, begin } = createFixture()
    host.opening = Promise.reject(lost())
    await expect(sessions.use(ctx, 'n1', async () => {})).rejects.toThrow(SshFailure)
    host.opening = Promise.resolve()
    await (await begin()).end()
  })

  test('checks before each use whether the node may be used', async () => {
    const { host, sessions, begin, closed } = createFixture()
    const running = await begin()
    host.login = { ...host.login, blockedReason: 'The node n1 is decommissioned; recommission it first.' }
    const work = vi.fn(async () => {})
    await expect(sessions.use(ctx, 'n1', work)).rejects.toThrow('is decommissioned')
    expect(work).not.toHaveBeenCalled()
    await running.end()
    expect(await closed()).toEqual([true])
  })

  test('logs in again after the login changed', async () => {
    const { host, begin, closed } = createFixture()
    await (await begin()).end()
    host.login = { ...host.login, version: '2' }
    await (await begin()).end()
    expect(await closed()).toEqual([true, false])
  })

  test('closes sessions in use when the worker stops', async () => {
    const { sessions, begin, closed } = createFixture()
    const running = await begin()
    sessions.close()
    expect(await closed()).toEqual([true])
    await running.end()
  })
})
