import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { clientAddress, headersOf, identifyClient, PEER } from './request-facts.ts'

const SECRET = 'a secret of the proxy'

/** The client address of a request from this peer. */
function addressOf(peer: string, headers: IncomingMessage['headers'], trust: Parameters<typeof identifyClient>[1]): string {
  const req = { headers, socket: { remoteAddress: peer } } as IncomingMessage
  identifyClient(req, trust)
  expect(req.headers['x-muster-proxy-secret']).toBeUndefined()
  return clientAddress({ headers: headersOf(req) })
}

it('returns the address of the peer, unless a trusted proxy names another one', () => {
  const forwarded = () => ({ 'x-forwarded-for': '6.6.6.6, 192.0.2.7', [PEER]: '6.6.6.6' })
  for (const peer of ['172.18.0.5', '127.0.0.1']) {
    expect(addressOf(peer, forwarded(), null)).toBe(peer)
    expect(addressOf(peer, forwarded(), { secret: null })).toBe('192.0.2.7')
    expect(addressOf(peer, {}, { secret: null })).toBe(peer)
  }
  expect(addressOf('::ffff:127.0.0.1', forwarded(), null)).toBe('127.0.0.1')
  expect(addressOf('127.0.0.1', { 'x-forwarded-for': '-oProxyCommand=id' }, { secret: null })).toBe('127.0.0.1')
})

it('trusts only requests with the secret when there is one', () => {
  const from = (secret?: string) => ({ 'x-forwarded-for': '192.0.2.7', ...(secret && { 'x-muster-proxy-secret': secret }) })
  expect(addressOf('127.0.0.1', from(SECRET), { secret: SECRET })).toBe('192.0.2.7')
  for (const secret of [undefined, 'another secret of nobody', 'undefined', `${SECRET}, ${SECRET}`])
    expect(addressOf('127.0.0.1', from(secret), { secret: SECRET })).toBe('127.0.0.1')
  expect(addressOf('127.0.0.1', from(SECRET), null)).toBe('127.0.0.1')
})
