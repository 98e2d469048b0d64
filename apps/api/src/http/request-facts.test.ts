import { expect, it } from 'vitest'
import { clientAddress, PEER } from './request-facts.ts'

const from = (peer: string, forwarded?: string) => ({
  headers: new Headers({ [PEER]: peer, ...(forwarded ? { 'x-forwarded-for': forwarded } : {}) }),
})

it('returns the peer address, or the forwarded address of a trusted proxy', () => {
  const proxied = from('172.18.0.5', '6.6.6.6, 192.0.2.7')
  expect(clientAddress(proxied)).toBe('172.18.0.5')
  expect(clientAddress(proxied, true)).toBe('192.0.2.7')
  expect(clientAddress(from('::ffff:127.0.0.1', '192.0.2.7'))).toBe('192.0.2.7')
  expect(clientAddress(from('172.18.0.5'), true)).toBe('172.18.0.5')
})
