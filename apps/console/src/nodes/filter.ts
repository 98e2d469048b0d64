import type { VariablesOf } from '@/graphql/graphql.ts'
import type { NodesQuery } from './documents.ts'

type Variables = VariablesOf<typeof NodesQuery>
export type NodeFilter = NonNullable<Variables['filter']>
export type NodeOrder = NonNullable<Variables['orderBy']>

/** URL query keys of the node list. */
export const filterKeys = [
  'status',
  'health',
  'device',
  'model',
  'tag',
  'group',
  'os',
  'arch',
  'agent',
  'cluster',
  'region',
  'datacenter',
  'rack',
  'alarm',
  'agentAlarm',
] as const
export type FilterKey = (typeof filterKeys)[number]

/** Whether the text is a hostlist (brackets or commas) and not a search text. */
export function isHostlist(text: string): boolean {
  return /\[[\d,\s-]+\]/.test(text) || /^[\w.-]+(\s*,\s*[\w.-]+)+$/.test(text.trim())
}

/** Converts the URL query to the API's filter. The server validates the values. */
export function toFilter(get: (key: string) => string, all: (key: string) => string[]): NodeFilter {
  const text = get('q').trim()
  const filter: NodeFilter = {}
  if (text) Object.assign(filter, isHostlist(text) ? { hostlist: text } : { text })
  const lists = {
    status: 'status',
    health: 'health',
    device: 'deviceType',
    tag: 'tag',
    group: 'group',
    os: 'os',
    arch: 'arch',
    agent: 'agentState',
    cluster: 'cluster',
    region: 'region',
    datacenter: 'datacenter',
    rack: 'rack',
  } as const
  for (const [key, field] of Object.entries(lists)) {
    const values = all(key)
    if (values.length > 0) Object.assign(filter, { [field]: values })
  }
  const model = get('model')
  if (model) filter.acceleratorModel = model
  if (get('alarm')) filter.hasHostKeyAlarm = true
  if (get('agentAlarm')) filter.hasAgentAlarm = true
  return filter
}

const fields = { name: 'NAME', created: 'CREATED_AT', seen: 'LAST_SEEN_AT', status: 'STATUS' } as const
export type SortKey = keyof typeof fields

/** Converts `sort=name` or `sort=-seen` to the API's order; by name by default. */
export function toOrder(sort: string): NodeOrder {
  const key = sort.replace(/^-/, '')
  return { field: Object.hasOwn(fields, key) ? fields[key as SortKey] : 'NAME', direction: sort.startsWith('-') ? 'DESC' : 'ASC' }
}
