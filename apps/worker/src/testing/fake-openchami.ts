import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Component = { ID: string; NID?: number; Role?: string }
type Interface = { MACAddress: string; ComponentID: string; IPAddresses: { IPAddress: string }[] }
type Group = { label: string; description: string; exclusiveGroup?: string; members: { ids: string[] } }
type Boot = { hosts: string[]; kernel: string; initrd: string; params: string }

/**
 * A fake of OpenCHAMI's SMD and BSS, for machines without Go: it has the answers that the real ones gave to the requests of a worker.
 * real-services.long.test.ts uses the real ones.
 */
export async function startFakeOpenchami(token: string) {
  const components = new Map<string, Component>()
  const interfaces = new Map<string, Interface>()
  const groups = new Map<string, Group>()
  const boots = new Map<string, Boot>()
  /** Writes, in order. */
  const writes: string[] = []
  const state = { failsOn: '' }

  function answer(method: string, path: string, body: unknown): { status: number; body?: unknown } {
    const [, kind = '', name = '', part] =
      /^\/(?:hsm\/v2\/(?:State|Inventory)|hsm\/v2|boot\/v1)\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? []
    if (kind === 'Components') {
      if (method === 'GET') return { status: 200, body: { Components: [...components.values()] } }
      // A POST changes nothing of a component that exists.
      if (method === 'POST') {
        for (const one of (body as { Components: Component[] }).Components)
          if (!components.has(one.ID)) components.set(one.ID, one)
        return { status: 204 }
      }
      const one = components.get(name)
      if (!one || method !== 'PATCH') return { status: 404, body: { title: 'Not Found', detail: `no such component ${name}` } }
      Object.assign(one, body)
      return { status: 204 }
    }
    if (kind === 'EthernetInterfaces') {
      if (method === 'GET') return { status: 200, body: [...interfaces.values()] }
      const given = body as Interface
      const id = name || given.MACAddress.replaceAll(':', '')
      if (method === 'POST' && interfaces.has(id)) return { status: 409, body: { title: 'Conflict', detail: 'duplicate' } }
      interfaces.set(id, { ...interfaces.get(id), ...given })
      return { status: method === 'POST' ? 201 : 200 }
    }
    if (kind === 'groups') {
      if (method === 'GET') return { status: 200, body: [...groups.values()] }
      if (method === 'POST') groups.set((body as Group).label, body as Group)
      else if (part === 'members') groups.get(name)!.members = body as Group['members']
      else Object.assign(groups.get(name)!, body)
      return { status: method === 'POST' ? 201 : 204 }
    }
    if (kind === 'bootparameters') {
      // BSS answers null when it has none.
      if (method === 'GET') return { status: 200, body: boots.size > 0 ? [...boots.values()] : null }
      boots.set((body as Boot).hosts[0]!, body as Boot)
      return { status: 200 }
    }
    return { status: 404, body: { title: 'Not Found' } }
  }

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const [path = ''] = req.url!.split('?')
    const request = `${req.method} ${path}`
    if (req.method !== 'GET') writes.push(request)
    const isRefused = req.headers.authorization !== `Bearer ${token}`
    const { status, body } = isRefused
      ? { status: 401, body: { title: 'Unauthorized', detail: 'token is unauthorized' } }
      : state.failsOn && request.startsWith(state.failsOn)
        ? { status: 500, body: { title: 'Internal Server Error', detail: 'query failed' } }
        : answer(req.method!, path, text ? JSON.parse(text) : undefined)
    res.writeHead(status, { 'content-type': 'application/json' }).end(body === undefined ? '' : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ components, interfaces, groups, boots, writes, state },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
