import dns from 'node:dns/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { LOOPBACK } from '../../testing/loopback.ts'
import { abuseUrls } from '../../testing/url-notations.ts'
import { isLocalAddress } from './local-addresses.ts'
import { resolveTarget, TargetError } from './resolve-target.ts'
import { sendRequest } from './send-request.ts'
import { isListed, outboundSettings } from './settings.ts'

const parse = (text: string) => outboundSettings.LOCAL_TARGETS.parse(text)
const open: Server[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const server of open.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const got: IncomingMessage[] = []
  const server = createServer((request, response) => {
    got.push(request)
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push(server)
  return { got, port: (server.address() as AddressInfo).port }
}
const get = (url: string, localTargets = LOOPBACK, more: { timeoutMs?: number; maxBytes?: number; signal?: AbortSignal } = {}) =>
  sendRequest({ url: new URL(url), method: 'GET', headers: {} }, { localTargets, timeoutMs: 20_000, maxBytes: 1000, ...more })

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '169.254.169.254',
  '100.100.100.200',
  '::1',
  '::',
  '::7f00:1',
  'fe80::1',
  'fe80::1%lo',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '2001:0:7f00:1::',
  '2002:7f00:1::',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  '224.0.0.1',
  '255.255.255.255',
])('%s is local', (address) => expect(isLocalAddress(address)).toBe(true))

test.each(['10.0.0.1', '100.100.100.201', '192.168.1.1', '172.16.0.1', '8.8.8.8', 'fd00::1', '2001:db8::1', '::ffff:10.0.0.1'])(
  '%s is not local',
  (address) => expect(isLocalAddress(address)).toBe(false),
)

test.each([
  ['127.0.0.1', '127.0.0.1', 80, true],
  ['127.0.0.1', '::ffff:127.0.0.1', 80, true],
  ['127.0.0.1', '127.0.0.2', 80, false],
  ['127.0.0.1:8200', '127.0.0.1', 8200, true],
  ['127.0.0.1:8200', '127.0.0.1', 5432, false],
  ['169.254.10.0/24', '169.254.10.7', 80, true],
  ['169.254.10.0/24:443', '169.254.10.7', 80, false],
  ['::1', '::1', 80, true],
  ['[::1]:8200', '::1', 8200, true],
  ['[::1]:8200', '::1', 22, false],
  ['[fe80::]/10:80, 127.0.0.1', 'fe80::7', 80, true],
  ['', '127.0.0.1', 80, false],
])('LOCAL_TARGETS=%s contains %s port %s: %s', (setting, address, port, listed) =>
  expect(isListed(parse(setting), address, port)).toBe(listed),
)

test.each([
  'localhost',
  '127.0.0.1/33',
  '127.0.0.1:0',
  '127.0.0.1:70000',
  '1',
  '127.0.0.1;::1',
  '[127.0.0.1',
  'http://127.0.0.1',
  '*',
])('LOCAL_TARGETS=%s is rejected', (setting) => expect(outboundSettings.LOCAL_TARGETS.safeParse(setting).success).toBe(false))

test('rejects local addresses in any notation without a connection, and names the entry that allows one', async () => {
  const { got, port } = await serve((_request, response) => response.end('secret'))
  for (const host of [
    '127.0.0.1',
    'localhost',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0x7f000001',
    '0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
  ])
    await expect(get(`http://${host}:${port}/`, []), host).rejects.toThrow(
      /an address of the worker's own machine, its link, or a metadata service\. .*list \S+:\d+ in LOCAL_TARGETS/,
    )
  for (const url of [`http://user@127.0.0.1:${port}/`, `http://a:b@127.0.0.1:${port}/`, 'file:///etc/passwd', 'ftp://127.0.0.1/'])
    await expect(get(url)).rejects.toThrow(TargetError)
  // The host is what comes after the @.
  await expect(get(`http://10.0.0.1@127.0.0.1:${port}/`, [])).rejects.toThrow(TargetError)
  await expect(get(`http://127.0.0.1:${port}/`, parse('127.0.0.1:1'))).rejects.toThrow(`list 127.0.0.1:${port} in LOCAL_TARGETS`)
  expect(got).toEqual([])
  expect(await get(`http://127.0.0.1:${port}/`, parse(`127.0.0.1:${port}`))).toMatchObject({ status: 200, text: 'secret' })
})

test('rejects a name with one local address among others', async () => {
  vi.spyOn(dns, 'lookup').mockResolvedValue([
    { address: '10.0.0.1', family: 4 },
    { address: '169.254.169.254', family: 4 },
  ] as never)
  await expect(resolveTarget('both.test', 80, [])).rejects.toThrow('both.test is at 169.254.169.254')
})

test('connects to the checked address when the name changes to another one afterwards', async () => {
  const { got, port } = await serve((_request, response) => response.end('pinned'))
  const lookup = vi.spyOn(dns, 'lookup').mockResolvedValue([{ address: '127.0.0.1', family: 4 }] as never)
  // The name exists only in this answer: a second lookup would fail.
  expect(await get(`http://rebinding.invalid:${port}/`)).toMatchObject({ text: 'pinned' })
  expect(lookup).toHaveBeenCalledTimes(1)
  expect(got[0]!.headers.host).toBe(`rebinding.invalid:${port}`)
})

test('follows no redirect and returns the beginning of a long body', async () => {
  const { got, port } = await serve((request, response) =>
    request.url === '/' ? response.writeHead(302, { location: '/elsewhere' }).end() : response.end('x'.repeat(100_000)),
  )
  expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 302, isCut: false })
  expect(got.map(({ url }) => url)).toEqual(['/'])
  expect(await get(`http://127.0.0.1:${port}/long`)).toMatchObject({ status: 200, isCut: true })
})

test('ends a request after its time and when its caller stops', async () => {
  const { port } = await serve(() => {})
  const url = `http://127.0.0.1:${port}/`
  await expect(get(url, LOOPBACK, { timeoutMs: 20 })).rejects.toMatchObject({
    kind: 'timeout',
    message: 'did not respond within 0.02 s',
  })
  const stopping = AbortSignal.abort(new Error('The worker stopped.'))
  await expect(get(url, LOOPBACK, { signal: stopping })).rejects.toThrow('The worker stopped.')
  const later = new AbortController()
  const waiting = get(url, LOOPBACK, { signal: later.signal })
  later.abort(new Error('The worker stopped.'))
  await expect(waiting).rejects.toThrow('The worker stopped.')
})

test('no notation of random addresses reaches a local one', () => abuseUrls(2000))
