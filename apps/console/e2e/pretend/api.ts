import fs from 'node:fs'
import path from 'node:path'
import type { Page, WebSocketRoute } from '@playwright/test'
import { buildSchema, graphql } from 'graphql'
import type { World } from './world.ts'

const schema = buildSchema(fs.readFileSync(path.join(import.meta.dirname, '../../../api/schema.graphql'), 'utf8'))

/**
 * Answer this page's GraphQL from `world`, by the committed schema: queries and mutations over HTTP, subscriptions over WebSocket.
 * `world.failing` makes every request end as a broken server would.
 */
export async function pretendApi(page: Page, world: World): Promise<void> {
  await page.route('**/graphql', async (route) => {
    const { query, variables } = route.request().postDataJSON() as { query: string; variables: Record<string, unknown> }
    if (world.failing && !query.includes('query Viewer')) {
      await route.fulfill({ json: { errors: [{ message: world.failing, extensions: { code: 'INTERNAL_SERVER_ERROR' } }] } })
      return
    }
    const result = await graphql({ schema, source: query, variableValues: variables, rootValue: world.root })
    for (const error of result.errors ?? []) console.error(error.message, error.path)
    await route.fulfill({ json: result })
  })
  await page.routeWebSocket('**/graphql', (socket) => {
    socket.onMessage((message) => void onMessage(socket, world, JSON.parse(String(message))))
  })
}

type Message = { type: string; id?: string; payload?: { query: string; variables: Record<string, unknown> } }

async function onMessage(socket: WebSocketRoute, world: World, message: Message): Promise<void> {
  if (message.type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }))
  if (message.type === 'ping') socket.send(JSON.stringify({ type: 'pong' }))
  if (message.type !== 'subscribe' || !message.payload) return
  const { query, variables } = message.payload
  const field = Object.keys(world.streams).find((name) => query.includes(`${name}(`) || query.includes(`${name} {`))
  if (!field) return
  const send = async (value: unknown) => {
    // The stream's value is put through the client's own selection, as if it were a query's.
    const source = query.replace(/^\s*subscription/, 'query')
    const result = await graphql({ schema: asQuery, source, variableValues: variables, rootValue: { [field]: value } })
    for (const error of result.errors ?? []) console.error(error.message, error.path)
    socket.send(JSON.stringify({ id: message.id, type: 'next', payload: result }))
  }
  await world.streams[field]?.(variables, send)
  if (field === 'jobRunEvents' && world.isLogOver) socket.send(JSON.stringify({ id: message.id, type: 'complete' }))
}

const asQuery = buildSchema(
  fs
    .readFileSync(path.join(import.meta.dirname, '../../../api/schema.graphql'), 'utf8')
    .replace(/^type Query\b/m, 'type NotQuery')
    .replace(/^type Subscription\b/m, 'type Query'),
)
