import { createServer } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nodeChanged } from '../nodes/index.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { type ChangeEvent, createListener } from './events.ts'

let world: TestRuntime
beforeAll(async () => {
  world = await testRuntime({ notify: 'real' })
})
afterAll(() => world.close())

it('ignores payloads of other programs on its channel', async () => {
  const listener = await createListener(world.url, world.runtime.log)
  const heard: ChangeEvent[] = []
  listener.on(nodeChanged, null, (changeEvent) => heard.push(changeEvent))
  const other = new pg.Client({ connectionString: world.url })
  await other.connect()
  for (const text of ['no json', '{}', 'null', '[null, 7, {"topic": "node"}]'])
    await other.query('select pg_notify($1, $2)', ['muster', text])
  await other.end()
  const changeEvent: ChangeEvent = { topic: 'node', id: crypto.randomUUID(), tenantId: crypto.randomUUID() }
  world.runtime.notify(changeEvent)
  await expect.poll(() => heard.length).toBeGreaterThan(0)
  expect(heard).toEqual([changeEvent])
  await listener.close()
})

it('leaves no connection behind when it cannot listen', async () => {
  // A server that accepts connections and rejects every statement, such as a pooler in transaction mode.
  const open = new Set<unknown>()
  const message = (type: string, body: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length + 4)
    return Buffer.concat([Buffer.from(type), length, body])
  }
  const isReady = message('Z', Buffer.from('I'))
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', Buffer.alloc(4)), isReady]))
      socket.once('data', () =>
        socket.write(Buffer.concat([message('E', Buffer.from('SERROR\0C0A000\0Mno LISTEN here\0\0')), isReady])),
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await expect(createListener(`postgres://nobody@127.0.0.1:${port}/none`, world.runtime.log)).rejects.toThrow(/no LISTEN here/)
  await expect.poll(() => open.size).toBe(0)
  server.close()
})
