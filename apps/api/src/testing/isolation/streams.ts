import { changeEvents } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { parseId } from '../../graphql/shared/ids.ts'
import { PUBLIC_URL, type testApi } from '../api.ts'
import type { FilledTenant } from './fill-tenant.ts'

export type Stream = { text(): string; isEnded(): boolean; close(): Promise<void> }

/** Subscribes with server-sent events and collects them. */
export async function openStream(
  { api }: Awaited<ReturnType<typeof testApi>>,
  headers: Record<string, string>,
  query: string,
  variables: object,
): Promise<Stream> {
  const response = await api.yoga.fetch(`${PUBLIC_URL}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    body: JSON.stringify({ query, variables }),
  })
  const reader = response.body!.getReader()
  let text = ''
  let isEnded = false
  const read = async () => {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      text += Buffer.from(value).toString()
    }
    isEnded = true
  }
  void read().catch(() => {})
  return {
    text: () => [...text.matchAll(/^data: (\{.+\})$/gm)].map(([, json]) => json).join('\n'),
    isEnded: () => isEnded,
    close: () => reader.cancel(),
  }
}

/** Changes every object of the tenant, or says that it changed. A subscription that follows other changes needs them here. */
export async function changeEverything(
  { runtime }: Awaited<ReturnType<typeof testApi>>,
  { tenant, ids }: FilledTenant,
): Promise<void> {
  const tenantId = tenant.id
  await runtime.db.execute(
    sql`update alerts set count = count + 1, changed_xid = pg_current_xact_id() where tenant_id = ${tenantId}`,
  )
  await runtime.db.execute(sql`update agents set state_since = clock_timestamp() where tenant_id = ${tenantId}`)
  for (const { topic } of changeEvents)
    for (const id of Object.values(ids).flat()) runtime.notify({ topic, id: parseId(id)!.id, tenantId, seq: 1 })
}
