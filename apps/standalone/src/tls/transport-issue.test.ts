import { expect, test } from 'vitest'
import { transportIssue } from './transport-issue.ts'

const files = { certFile: '/run/tls-cert.pem', keyFile: '/run/tls-key.pem' }

const at = (value: string) => ({ address: { setting: 'HOST' as const, value } })

test.each(['127.0.0.1', '127.8.8.8', '::1', '[::1]', 'localhost'])('permits plain HTTP at the loopback address %s', (value) =>
  expect(transportIssue({ files: {}, ...at(value), trustProxy: false })).toBeNull(),
)

test.each(['0.0.0.0', '', '::', '[::]', '10.0.0.7', 'muster.example.org', '2130706433'])(
  'refuses plain HTTP at %j without TLS or a proxy',
  (value) => {
    expect(transportIssue({ files: {}, ...at(value), trustProxy: false })).toMatch(
      /^HOST is .*Set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY=1/,
    )
    expect(transportIssue({ files, ...at(value), trustProxy: false })).toBeNull()
    expect(transportIssue({ files: {}, ...at(value), trustProxy: true })).toBeNull()
  },
)

test('refuses half a certificate, and a public address without TLS', () => {
  expect(transportIssue({ files: { certFile: files.certFile }, ...at('127.0.0.1'), trustProxy: true })).toMatch(/set both/)
  expect(transportIssue({ files, ...at('0.0.0.0'), trustProxy: false, publicUrl: 'http://muster.example.org' })).toMatch(
    /begin with https/,
  )
  expect(transportIssue({ files, ...at('0.0.0.0'), trustProxy: false, publicUrl: 'https://muster.example.org' })).toBeNull()
})
