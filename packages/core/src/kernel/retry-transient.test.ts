import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { Conflict } from './errors.ts'
import { isTransientDbError, retryTransient } from './retry-transient.ts'

const away = (code = 'ECONNREFUSED') => new DrizzleQueryError('select 1', [], Object.assign(new Error('away'), { code }))

/** Throws `errors` in turn, then gives their number. */
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
  it('tries again while the database is away', async () => {
    const { work } = failing(away(), away('57P01'), new Error('Connection terminated unexpectedly'))
    expect(await retryTransient(work, { everyMs: 1 })).toBe(4)
  })

  it.each([
    ['wrong SQL', away('42601')],
    ['wrong data', away('23505')],
    ['a refusal', new Conflict('The run was claimed by another worker.')],
    ['a bug', new TypeError('x is not a function')],
  ])('throws %s at once', async (_, error) => {
    const { work, tries } = failing(error)
    await expect(retryTransient(work, { everyMs: 1 })).rejects.toBe(error)
    expect(tries()).toBe(1)
  })

  it('gives up after its time', async () => {
    const errors = [away(), away()]
    await expect(retryTransient(failing(...errors).work, { everyMs: 1, forMs: -1 })).rejects.toBe(errors[0])
  })

  it('ends with its signal, in the middle of a pause', async () => {
    const over = new AbortController()
    const error = away()
    const { work, tries } = failing(error, error)
    const trying = retryTransient(work, { everyMs: 3_600_000, forMs: 3_600_000, signal: over.signal })
    setImmediate(() => over.abort())
    await expect(trying).rejects.toBe(error)
    expect(tries()).toBe(1)
  })
})

it('sees through the wrappers of what is away', () => {
  expect(isTransientDbError(new Error('outer', { cause: away('53300') }))).toBe(true)
  expect(isTransientDbError(away('40P01'))).toBe(true)
  expect(isTransientDbError(away('40002'))).toBe(false)
  expect(isTransientDbError('text')).toBe(false)
})
