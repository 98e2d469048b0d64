import { DeviceType, Health, VENDOR_NAMES } from '@muster/discovery'
import { type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { NODE_HEALTH_STATUSES, nodeHealthStatus } from '../../nodes/health/index.ts'
import { macPattern, normalizeXname, parseHardwareAddress } from '../../nodes/network/index.ts'
import {
  accelerators,
  BMC_PROTOCOLS,
  CONNECTION_TYPES,
  type computeNodes,
  NODE_STATUSES,
  NODE_TYPES,
  nodeBmcs,
  nodeInterfaces,
} from '../../nodes/tables.ts'

/** The table of nodes or an alias of it. */
export type NodeColumns = {
  [K in keyof typeof computeNodes as (typeof computeNodes)[K] extends AnyPgColumn ? K : never]: AnyPgColumn
}

/**
 * How a field's values compare: `text` exactly, `lower` and word lists ignoring case, `xname` and `mac` in every notation, `version` by its numbers, `bytes` with
 * units.
 */
export type Kind = 'text' | 'xname' | 'mac' | 'lower' | 'version' | 'number' | 'bytes' | { words: readonly string[] }

type Field = {
  kind: Kind
  /**
   * Condition on a node: `test` is true for the value of the field, or for one of its values.
   * @param counted condition on accelerators `a` that `accelerator.count` counts
   */
  holds: (n: NodeColumns, test: (value: SQL) => SQL, key: string, counted?: SQL) => SQL
  /** Column of an accelerator `a`. */
  accelerator?: SQL
  /** Replaces `holds` when values come from a fixed set. */
  isOneOf?: (n: NodeColumns, values: string[]) => SQL
}

const ofNode = (column: keyof NodeColumns, kind: Kind): Field => ({ kind, holds: (n, test) => test(sql`${n[column]}`) })

/** Condition on one accelerator `a` of the node. */
const ofAccelerator = (column: string, kind: Kind): Field => ({
  kind,
  accelerator: sql.raw(`a.${column}`),
  holds: (n, test) => sql`exists (select from ${accelerators} a where a.node_id = ${n.id} and ${test(sql.raw(`a.${column}`))})`,
})

/** Condition on the BMC of the node. */
const ofBmc = (column: string, kind: Kind): Field => ({
  kind,
  holds: (n, test) => sql`exists (select from ${nodeBmcs} b where b.node_id = ${n.id} and ${test(sql.raw(`b.${column}`))})`,
})

export const FIELDS = {
  name: ofNode('name', 'text'),
  host: ofNode('host', 'text'),
  port: ofNode('port', 'number'),
  status: ofNode('status', { words: NODE_STATUSES }),
  health: { kind: { words: NODE_HEALTH_STATUSES }, holds: (n, test) => test(nodeHealthStatus(n)) },
  type: ofNode('nodeType', { words: NODE_TYPES }),
  xname: ofNode('xname', 'xname'),
  mac: {
    kind: 'mac',
    holds: (n, test) => sql`exists (select from ${nodeInterfaces} i where i.node_id = ${n.id} and ${test(sql.raw('i.mac'))})`,
  },
  nid: ofNode('nid', 'number'),
  bmc: ofBmc('address', 'lower'),
  'bmc.protocol': ofBmc('protocol', { words: BMC_PROTOCOLS }),
  'bmc.mac': ofBmc('mac', 'mac'),
  rack: ofNode('rack', 'text'),
  connection: ofNode('connectionType', { words: CONNECTION_TYPES }),
  tag: {
    kind: 'text',
    holds: (n, test) => sql`exists (select from unnest(${n.tags}) tag where ${test(sql`tag`)})`,
    isOneOf: (n, values) => sql`${n.tags} && ${sql.param(values)}::text[]`,
  },
  'label.KEY': { kind: 'version', holds: (n, test, key) => test(sql`(${n.labels} ->> ${key}::text)`) },
  arch: ofNode('arch', 'lower'),
  os: ofNode('osId', 'lower'),
  'os.version': ofNode('osVersion', 'version'),
  kernel: ofNode('kernel', 'version'),
  'cpu.model': ofNode('cpuModel', 'text'),
  'cpu.sockets': ofNode('cpuSockets', 'number'),
  'cpu.cores': ofNode('cpuCores', 'number'),
  'cpu.threads': ofNode('cpuThreads', 'number'),
  memory: ofNode('memoryBytes', 'bytes'),
  'accelerator.type': ofAccelerator('device_type', { words: DeviceType.options }),
  'accelerator.vendor': ofAccelerator('vendor', { words: VENDOR_NAMES }),
  'accelerator.model': ofAccelerator('model', 'text'),
  'accelerator.count': {
    kind: 'number',
    holds: (n, test, _key, counted) =>
      test(sql`(select count(*) from ${accelerators} a where a.node_id = ${n.id}${counted ? sql` and ${counted}` : sql``})`),
  },
  'accelerator.memory': ofAccelerator('memory_total', 'bytes'),
  'accelerator.health': ofAccelerator('health', { words: Health.options }),
  'accelerator.driver': ofAccelerator('driver_version', 'version'),
  'accelerator.firmware': ofAccelerator('firmware_version', 'version'),
  'accelerator.toolkit': ofAccelerator('toolkit_version', 'version'),
} as const satisfies Record<string, Field>
export type FieldName = keyof typeof FIELDS
export const fieldOf = (name: FieldName): Field => FIELDS[name]

export const OPERATORS = ['=', '!=', '~', '<', '<=', '>', '>=', 'in'] as const
export type Operator = (typeof OPERATORS)[number]

/** Valid operators of a field. */
export function operatorsOf(kind: Kind): readonly Operator[] {
  if (kind === 'version') return OPERATORS
  if (kind === 'number' || kind === 'bytes') return OPERATORS.filter((operator) => operator !== '~')
  return typeof kind === 'string' ? ['=', '!=', '~', 'in'] : ['=', '!=', 'in']
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Parses a value for the comparison, or returns the error. */
export function readValue(kind: Kind, operator: Operator, text: string): { value: string | number } | { wrong: string } {
  if (typeof kind === 'object') {
    const value = kind.words.find((word) => word.toLowerCase() === text.toLowerCase())
    return value === undefined ? { wrong: `must be one of ${kind.words.join(', ')}` } : { value }
  }
  if (kind === 'number') return /^\d{1,15}(\.\d{1,6})?$/.test(text) ? { value: Number(text) } : { wrong: 'must be a number' }
  if (kind === 'bytes') {
    const [, number, unit = 'B'] = /^(\d{1,15}(?:\.\d{1,6})?)([A-Za-z]+)?$/.exec(text) ?? []
    const known = UNITS.find((each) => each.toLowerCase() === unit.toLowerCase())
    if (!number || !known) return { wrong: 'must be a number of bytes or one with a unit, such as 64GiB or 1.5TB' }
    const power = ' KMGTP'.indexOf(known.length === 1 ? ' ' : known[0]!)
    return { value: Math.round(Number(number) * (known.includes('i') ? 1024 : 1000) ** power) }
  }
  if (kind === 'version' && /[<>]/.test(operator) && !/^\d{1,15}(\.\d{1,15}){0,9}$/.test(text))
    return { wrong: 'must be a version such as 570.124 when it is compared with < or >' }
  if (kind === 'mac' && operator !== '~') {
    const mac = parseHardwareAddress(text)
    return mac ? { value: mac } : { wrong: 'must be a MAC address such as 02:00:5e:10:00:ff' }
  }
  if (kind === 'xname' && operator !== '~') return { value: normalizeXname(text).toLowerCase() }
  if (kind === 'mac') return { value: macPattern(text) }
  return { value: kind === 'lower' || kind === 'xname' ? text.toLowerCase() : text }
}
