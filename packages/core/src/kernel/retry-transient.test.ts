import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { Conflict } from './errors.ts'
import { isTransientDbError, retryTransient } from './retry-transient.ts'

const unavailable = (code = 'ECONNREFUSED') =>
  new DrizzleQueryError('select 1', [], Object.assign(new Error('unavailable'), { code }))

/** Throws `errors` one after the other, then returns the number of calls. */
function failing(...errors: Error[]) {
  let tries = 0
  return {
    work: async () => {
      const error = errors[tries++]
      if (error) throw error
      return tries
    },
    tries: () => tries,
  }
}

describe('retryTransient', () => {
  it('retries while the database is unavailable', async () => {
    const { work } = failing(unavailable(), unavailable('57P01'), new Error('Connection terminated unexpectedly'))
    expect(await retryTransient(work, { everyMs: 1 })).toBe(4)
  })

  it.each([
    ['wrong SQL', unavailable('42601')],
    ['wrong data', unavailable('23505')],
    ['a domain error', new Conflict('The run was claimed by another worker.')],
    ['a bug', new TypeError('x is not a function')],
  ])('throws %s immediately', async (_, error) => {
    const { work, tries } = failing(error)
    await expect(retryTransient(work, { everyMs: 1 })).rejects.toBe(error)
    expect(tries()).toBe(1)
  })

  it('retries errors that the caller names, and reports each retry', async () => {
    const [busy, other] = [new Error('busy'), new Error('other')]
    const retries: unknown[] = []
    const options = {
      everyMs: 1,
      isTransient: (error: unknown) => error === busy,
      onRetry: async (error: Error, attempt: number) => void retries.push([error, attempt]),
    }
    const { work, tries } = failing(busy, busy, other)
    await expect(retryTransient(work, options)).rejects.toBe(other)
    expect(tries()).toBe(3)
    expect(retries).toEqual([
      [busy, 2],
      [busy, 3],
    ])
  })

  it('gives up after the given time', async () => {
    const errors = [unavailable(), unavailable()]
    await expect(retryTransient(failing(...errors).work, { everyMs: 1, forMs: 0 })).rejects.toBe(errors[0])
  })

  it('stops during a pause when its signal aborts', async () => {
    const stopping = new AbortController()
    const error = unavailable()
    const { work, tries } = failing(error, error)
    const attempt = retryTransient(work, { everyMs: 3_600_000, forMs: 3_600_000, signal: stopping.signal })
    setImmediate(() => stopping.abort())
    await expect(attempt).rejects.toBe(error)
    expect(tries()).toBe(1)
  })
})

it('finds transient errors in the cause chain', () => {
  expect(isTransientDbError(new Error('outer', { cause: unavailable('53300') }))).toBe(true)
  expect(isTransientDbError(unavailable('40P01'))).toBe(true)
  expect(isTransientDbError(unavailable('40002'))).toBe(false)
  expect(isTransientDbError('text')).toBe(false)
})
