import { makePrivateKey } from '@muster/core/testing'
import { expect, test } from 'vitest'
import { createMask } from './mask.ts'

const SECRET = `it's "5 % & \\ö+/=`
const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each([
  ['verbatim', SECRET],
  ['in JSON', JSON.stringify({ a: SECRET })],
  ['in JSON in JSON', JSON.stringify(JSON.stringify(SECRET))],
  ['in JSON of Python', JSON.stringify(SECRET).replace('ö', '\\u00f6')],
  ['in a URL', `https://x/?p=${encodeURIComponent(SECRET)}`],
  ['in a form', `p=${encodeURIComponent(SECRET).replaceAll('%20', '+')}`],
  ['in single quotes of a shell', `echo '${SECRET.replaceAll("'", `'"'"'`)}'`],
  ['as %q of a shell', `it\\'s\\ \\"5\\ %\\ \\&\\ \\\\ö+/=`],
  ['in base64', base64(SECRET)],
  ['in base64 after one byte', base64(`:${SECRET}`)],
  ['in base64 after two bytes', base64(`a:${SECRET} and more`)],
  ['in base64url', Buffer.from(`user:${SECRET}`).toString('base64url')],
])('%s', (_, text) => {
  const masked = createMask([SECRET]).text(`before ${text} after`)
  expect(masked).toContain('***')
  expect(masked.startsWith('before ')).toBe(true)
  expect(masked.endsWith(' after')).toBe(true)
  // No recognizable part remains, except the edge characters of base64.
  for (const piece of ["it's", '5 %', 'ö+/', JSON.stringify(SECRET).slice(3, 9), base64(SECRET).slice(3, 9)])
    expect(masked).not.toContain(piece)
})

test('masks keys and values of results at any depth', () => {
  const { value } = createMask(['hunter22'])
  expect(value({ a: ['x hunter22 y', { hunter22: null }], b: 1, c: true })).toEqual({
    a: ['x *** y', { '***': null }],
    b: 1,
    c: true,
  })
})

test('masks the lines of a private key but not its header', () => {
  const key = makePrivateKey()
  const masked = createMask([key]).text(`cat key\n${key}\nnext`)
  const body = key.split('\n').filter((line) => line.length > 16 && !line.startsWith('-----'))
  expect(body.length).toBeGreaterThan(3)
  for (const line of body) expect(masked).not.toContain(line)
  expect(masked).toContain('-----BEGIN OPENSSH PRIVATE KEY-----\n***')
})

test('masks the longest match, adjacent secrets, and secrets at the ends of a text', () => {
  const { text } = createMask(['abcd', 'abcdef', 'wxyz'])
  expect(text('abcdefabcdwxyz')).toBe('*********')
  expect(text('abc abce')).toBe('abc abce'.replace('abcd', '***'))
  expect(text('')).toBe('')
})

test('does not mask values shorter than four characters', () => {
  expect(createMask(['abc', '', 'a']).text('abc a')).toBe('abc a')
})

test('masks a flood quickly with a thousand secrets', () => {
  const secrets = Array.from({ length: 1000 }, (_, i) => `password-${i}-${(i * 7919).toString(36)}`)
  const { text } = createMask(secrets)
  const line = 'PASSED passwords password-x '.repeat(40_000)
  expect(text(line)).toBe(line)
  expect(text(`${line}${secrets[999]}`)).toBe(`${line}***`)
})
