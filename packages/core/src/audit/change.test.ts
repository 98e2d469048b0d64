import { expect, test } from 'vitest'
import { accounts, apiTokens, sessions } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { changeOf, MASKED, MASKED_CHANGED } from './change.ts'

const row = {
  id: 'c',
  name: 'ops',
  username: 'root',
  encrypted: { privateKey: 'AAAA', passphrase: 'BBBB' },
  updatedAt: new Date(),
}

test('contains only the changed fields', () => {
  expect(changeOf(credentials, row, { ...row, username: 'ops', updatedAt: new Date(0) })).toEqual({
    before: { username: 'root' },
    after: { username: 'ops' },
  })
  expect(changeOf(credentials, row, row)).toEqual({ before: {}, after: {} })
})

test('masks secrets and names those that changed', () => {
  const change = changeOf(credentials, row, { ...row, encrypted: { privateKey: 'CCCC', passphrase: 'BBBB', password: 'DDDD' } })
  expect(change).toEqual({
    before: { encrypted: { privateKey: MASKED, passphrase: MASKED } },
    after: { encrypted: { privateKey: MASKED_CHANGED, passphrase: MASKED, password: MASKED } },
  })
  for (const created of [changeOf(credentials, null, row), changeOf(credentials, row, null)])
    expect(JSON.stringify(created)).not.toMatch(/AAAA|BBBB/)
})

test('masks digests and tokens of every table', () => {
  const values = { hash: 'AAAA', password: 'AAAA', token: 'AAAA', accessToken: 'AAAA' }
  for (const table of [apiTokens, accounts, sessions]) expect(JSON.stringify(changeOf(table, null, values))).not.toContain('AAAA')
})
