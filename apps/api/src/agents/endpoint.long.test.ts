import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpServer, serveHttp } from '../http.ts'
import { agentClient, aHeartbeat, makeKeys, signedBody } from '../testing/agent-client.ts'
import { testApi } from '../testing/api.ts'
import { fuzz } from '../testing/fuzz-heartbeats.ts'

let t: Awaited<ReturnType<typeof testApi>>
let servers: HttpServer[]
let clients: ReturnType<typeof agentClient>[]
beforeAll(async () => {
  t = await testApi()
  servers = await Promise.all([1, 2].map(() => serveHttp(t.api, { host: '127.0.0.1', port: 0 })))
  clients = servers.map(({ port }) => agentClient(`http://127.0.0.1:${port}`))
})
afterAll(async () => {
  for (const server of servers) await server.stop()
  await t.close()
})
const enrolled = async () => clients[0]!.enrol((await t.given.tenant()).operator)

test('100,000 mangled bodies', { timeout: 3_600_000 }, async () => {
  const { name, keys } = await enrolled()
  expect(await fuzz(100_000, { name, keys, stranger: makeKeys() }, (body) => clients[0]!.send(body, name))).toEqual({
    sent: 100_000,
    wrong: [],
  })
})

test('100,000 heartbeats, each raced to two processes: one winner each', { timeout: 3_600_000 }, async () => {
  const agents = await Promise.all(Array.from({ length: 20 }, enrolled))
  const wrong: number[] = []
  await Promise.all(
    agents.map(async ({ name, keys }) => {
      for (let sequence_number = 1; sequence_number <= 5000; sequence_number++) {
        const body = signedBody(aHeartbeat({ node_id: name, sequence_number }), keys)
        const replies = await Promise.all(clients.map((client) => client.send(body, name)))
        if (replies.filter(({ accepted }) => accepted).length !== 1) wrong.push(sequence_number)
      }
    }),
  )
  expect(wrong).toEqual([])
})
