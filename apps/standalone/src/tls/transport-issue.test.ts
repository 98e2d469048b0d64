import { expect, test } from 'vitest'
import { transportIssue } from './transport-issue.ts'

const files = { certFile: '/run/tls-cert.pem', keyFile: '/run/tls-key.pem' }

test.each(['127.0.0.1', '127.8.8.8', '::1', '[::1]', undefined])(
  'permits plain HTTP at the loopback address %s',
  (publishedAddress) => expect(transportIssue({ files: {}, publishedAddress, trustProxy: false })).toBeNull(),
)

test.each(['0.0.0.0', '', '::', '[::]', '10.0.0.7', 'muster.example.org', '2130706433'])(
  'refuses plain HTTP at %j without TLS or a proxy',
  (publishedAddress) => {
    expect(transportIssue({ files: {}, publishedAddress, trustProxy: false })).toMatch(
      /Set TLS_CERT_FILE and TLS_KEY_FILE, or TRUST_PROXY=1/,
    )
    expect(transportIssue({ files, publishedAddress, trustProxy: false })).toBeNull()
    expect(transportIssue({ files: {}, publishedAddress, trustProxy: true })).toBeNull()
  },
)

test('refuses half a certificate, and a public address without TLS', () => {
  expect(transportIssue({ files: { certFile: files.certFile }, trustProxy: true })).toMatch(/set both/)
  expect(transportIssue({ files, trustProxy: false, publicUrl: 'http://muster.example.org' })).toMatch(/begin with https/)
  expect(transportIssue({ files, trustProxy: false, publicUrl: 'https://muster.example.org' })).toBeNull()
})
