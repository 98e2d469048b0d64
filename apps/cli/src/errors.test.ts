import { expect, it } from 'vitest'
import { fromGraphQL } from './client.ts'
import { errorFrom, orThrow } from './errors.ts'

it('maps every error code to its exit code', () => {
  const codes = ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND', 'INVALID_INPUT', 'CONFLICT', 'UNAVAILABLE', 'OTHER']
  expect(codes.map((code) => errorFrom({ code, message: 'm' }).exitCode)).toEqual([3, 3, 4, 5, 5, 6, 1])
})

it('names each invalid field without the path prefix of the API', () => {
  const issues = [
    { path: 'filter.hostlist', message: 'is invalid' },
    { path: '0.fingerprint', message: 'is short' },
    { path: '', message: 'Too much.' },
  ]
  expect(errorFrom({ code: 'INVALID_INPUT', message: 'm', issues }).message).toBe(
    'hostlist: is invalid\nfingerprint: is short\nToo much.',
  )
})

it('names the next step for an expired token', () => {
  const error = fromGraphQL([{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }])
  expect(error.exitCode).toBe(3)
  expect(error.message).toContain('muster login')
})

it('returns objects and throws errors of a result union', () => {
  expect(orThrow({ __typename: 'JobRun', id: '1' })).toEqual({ __typename: 'JobRun', id: '1' })
  expect(() => orThrow({ __typename: 'ConflictError', code: 'CONFLICT', message: 'taken' })).toThrow('taken')
})
