import { DrizzleQueryError } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { relations } from '../credentials/relations.ts'
import { connectDb } from './db/client.ts'
import { createLog, reasonOf } from './log.ts'

function listening() {
  const lines: string[] = []
  return {
    log: createLog('test', 'info', { write: (line) => void lines.push(line) }),
    lines,
    last: () => JSON.parse(lines.at(-1)!),
  }
}
const TOKEN = 'session-token-of-a-user'

it('logs the statement and reason of a failed query without its bound values', async () => {
  const { db, close } = connectDb('postgres://nobody@127.0.0.1:1/none', { max: 1, name: 'test', relations })
  const error = await db.query.credentialKeys
    .findFirst({ where: { salt: TOKEN } })
    .then(() => null)
    .catch((e: Error) => e)
  await close()
  expect(error).toBeInstanceOf(DrizzleQueryError)
  expect(error!.message).toContain(TOKEN)

  const { log, lines, last } = listening()
  log.error({ err: error }, 'an operation failed')
  expect(last().err).toMatchObject({
    message: expect.stringMatching(/^Failed query: select .* \$1/s),
    causes: [{ code: 'ECONNREFUSED' }],
  })
  expect(last().err.stack).toMatch(/\n {4}at /)
  log.error(error)
  log.error({ err: error })
  log.error({ err: new Error('outer', { cause: error }) }, 'wrapped')
  log.error({ err: new Error(error!.message, { cause: error }) }, 'error with the message of its cause')
  log.error({ error }, 'by the other name')
  log.error({ from: 'a library' }, error!.message)
  log.error(error!.message)
  expect(last().msg).toMatch(/^Failed query: select/)
  expect(lines).toHaveLength(8)
  expect(lines.join('')).not.toContain(TOKEN)
})

it('omits rows that the driver quotes', () => {
  const { log, lines, last } = listening()
  const detail = `Key (token)=(${TOKEN}) already exists.`
  log.warn({ err: Object.assign(new Error('duplicate key'), { code: '23505', detail }) }, 'rejected')
  expect(lines.join('')).not.toContain(TOKEN)
  expect(last()).toMatchObject({
    level: 'warn',
    process: 'test',
    msg: 'rejected',
    err: { message: 'duplicate key', code: '23505' },
  })
})

it('leaves texts and other values unchanged', () => {
  const { log, last } = listening()
  log.info('plain %s', 'text')
  expect(last().msg).toBe('plain text')
  log.info({ err: 'a text', password: 'x' }, 'with %d', 1)
  expect(last()).toMatchObject({ err: 'a text', password: '[secret]', msg: 'with 1' })
})

it('reasonOf returns only the reason of a failed query', () => {
  const failed = new DrizzleQueryError('select $1', [TOKEN], new Error('permission denied for table users'))
  expect(reasonOf(new Error('outer', { cause: failed }))).toBe('Database error: permission denied for table users')
  expect(reasonOf(new Error('Invalid configuration'))).toBe('Invalid configuration')
})
