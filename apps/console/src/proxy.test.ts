import { NextRequest } from 'next/server'
import { expect, test } from 'vitest'
import { proxy } from './proxy.ts'

test('the content security policy has every directive', () => {
  const policies = [1, 2].map(() => proxy(new NextRequest('https://muster.test/nodes')).headers.get('content-security-policy')!)
  const [nonce, other] = policies.map((policy) => /'nonce-([\w+/=]{24})'/.exec(policy)![1]!)
  expect(policies[0]!.split('; ')).toEqual([
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ])
  expect(nonce).not.toBe(other)
})
