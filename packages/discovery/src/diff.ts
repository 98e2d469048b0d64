import type { Accelerator, Discovery } from './schema.ts'

export interface DiscoveryChange {
  /** Where: `accelerators[GPU-…].driverVersion`, `host.kernel`. */
  path: string
  kind: 'added' | 'removed' | 'changed'
  before: unknown
  after: unknown
  /** One line for people. */
  label: string
}

export interface DiffOptions {
  /** Also compare what changes from minute to minute: temperatures, loads, memory in use, uptime, free space. */
  volatile?: boolean
  /** They are of two nodes: what names each of them is no difference, and accelerators are compared place by place. */
  ofTwoNodes?: boolean
}

const VOLATILE = new Set(['temperature', 'power', 'utilisation', 'memoryUsed', 'uptimeSeconds', 'availableBytes', 'durationMs'])
/** Of no two nodes the same. */
const IDENTITY = new Set('hostname fqdn machineId bootId uuid serial mac addresses primaryAddress guid lid'.split(' '))
/** Numbered by the node's boot or the tool's mood; they identify nothing. */
const LISTS: Record<string, (item: Record<string, unknown>) => string> = {
  disks: (item) => String(item.name),
  mounts: (item) => String(item.path),
  nics: (item) => String(item.name),
  infiniband: (item) => `${item.device}/${item.port}`,
  pci: (item) => String(item.address),
  tools: (item) => String(item.tool),
  partitions: (item) => String(item.uuid ?? `${item.profile} ${item.index}`),
}

/**
 * What became different from `before` to `after`: two moments of one node, or two nodes. Accelerators are matched by vendor and
 * uuid, else by place (PCI address and chip), else by serial and chip, so that renumbering is no change of the hardware; by their
 * number only where nothing else names them.
 */
export function diffDiscoveries(before: Discovery, after: Discovery, options: DiffOptions = {}): DiscoveryChange[] {
  const changes: DiscoveryChange[] = []
  const { ofTwoNodes = false } = options
  const skip: Skip = (key) => (!options.volatile && VOLATILE.has(key)) || (ofTwoNodes && IDENTITY.has(key))
  const devices = [before, after].map((one) => (ofTwoNodes ? one.accelerators.map(anonymous) : one.accelerators))
  accelerators(devices[0] ?? [], devices[1] ?? [], changes, skip)
  compare('host', before.host, after.host, changes, skip)
  compare('tools', before.tools, after.tools, changes, skip)
  return changes
}

function accelerators(before: Accelerator[], after: Accelerator[], changes: DiscoveryChange[], skip: Skip): void {
  const left = [...after]
  const gone: Accelerator[] = []
  for (const [pass, keyOf] of KEYS.entries()) {
    const open = pass === 0 ? before : gone.splice(0)
    for (const device of open) {
      const key = keyOf(device)
      const at = key === null ? -1 : left.findIndex((other) => keyOf(other) === key)
      const [match] = at < 0 ? [] : left.splice(at, 1)
      if (!match) gone.push(device)
      else if (pass > 0 && device.uuid && match.uuid && device.uuid !== match.uuid) replaced(device, match, changes)
      else within(device, match, changes, skip)
    }
  }
  for (const device of gone)
    changes.push({
      path: `accelerators[${nameOf(device)}]`,
      kind: 'removed',
      before: device,
      after: null,
      label: `${titleOf(device)} is gone (${nameOf(device)})`,
    })
  for (const device of left)
    changes.push({
      path: `accelerators[${nameOf(device)}]`,
      kind: 'added',
      before: null,
      after: device,
      label: `${titleOf(device)} is new (${nameOf(device)})`,
    })
}

/** How a device is recognised, surest first. */
const KEYS: ((device: Accelerator) => string | null)[] = [
  (device) => device.uuid && `${device.vendor} ${device.uuid}`,
  (device) => device.pciAddress && `${device.vendor} ${device.pciAddress} ${device.slot?.split('/')[1] ?? ''}`,
  (device) => device.serial && `${device.vendor} ${device.serial} ${device.slot ?? ''}`,
  (device) => (device.uuid || device.serial || device.index === null ? null : `${device.vendor} number ${device.index}`),
]

/** A device as any of its kind in its place. */
const anonymous = (device: Accelerator): Accelerator => ({
  ...device,
  uuid: null,
  serial: null,
  partitions: device.partitions.map((partition) => ({ ...partition, uuid: null, parentUuid: null })),
})

const nameOf = (device: Accelerator) =>
  device.uuid ?? device.pciAddress ?? device.serial ?? device.slot ?? `index ${device.index}`
const titleOf = (device: Accelerator) => `accelerator ${device.index ?? device.pciAddress ?? '?'}`

function replaced(before: Accelerator, after: Accelerator, changes: DiscoveryChange[]): void {
  const label = `${titleOf(after)} at ${after.pciAddress ?? after.slot} was replaced: ${nameOf(before)} -> ${nameOf(after)}`
  changes.push({ path: `accelerators[${nameOf(before)}]`, kind: 'changed', before, after, label })
}

function within(before: Accelerator, after: Accelerator, changes: DiscoveryChange[], skip: Skip): void {
  const own: DiscoveryChange[] = []
  compare(`accelerators[${nameOf(after)}]`, before, after, own, skip)
  for (const change of own) changes.push({ ...change, label: `${titleOf(after)}: ${change.label}` })
}

/** Walks two values of the same shape and notes where they differ. */
function compare(path: string, before: unknown, after: unknown, changes: DiscoveryChange[], skip: Skip): void {
  if (Object.is(before, after)) return
  const key = /(?:^|\.)(\w+)$/.exec(path)?.[1] ?? path
  if (Array.isArray(before) && Array.isArray(after)) {
    const itemName = LISTS[key]
    if (itemName) {
      for (const [id, old, young] of pairsOf(itemName, before, after)) compareItem(`${path}[${id}]`, old, young, changes, skip)
      return
    }
    if (JSON.stringify(before) === JSON.stringify(after)) return
  } else if (isRecord(before) && isRecord(after)) {
    for (const inner of new Set([...Object.keys(before), ...Object.keys(after)]))
      if (!skip(inner)) compare(`${path}.${inner}`, before[inner] ?? null, after[inner] ?? null, changes, skip)
    return
  }
  changes.push({ path, kind: 'changed', before, after, label: `${wordsOf(path)} ${show(before, key)} -> ${show(after, key)}` })
}

type Item = Record<string, unknown>
type Skip = (key: string) => boolean

/** Items of two lists by what names them. */
function pairsOf(itemName: (item: Item) => string, before: unknown[], after: unknown[]): [string, Item | null, Item | null][] {
  const old = new Map(before.filter(isRecord).map((item) => [itemName(item), item]))
  const young = new Map(after.filter(isRecord).map((item) => [itemName(item), item]))
  return [...new Set([...old.keys(), ...young.keys()])].map((id) => [id, old.get(id) ?? null, young.get(id) ?? null])
}

function compareItem(path: string, before: Item | null, after: Item | null, changes: DiscoveryChange[], skip: Skip): void {
  if (before && after) compare(path, before, after, changes, skip)
  else if (before) changes.push({ path, kind: 'removed', before, after, label: `${wordsOf(path)} is gone` })
  else changes.push({ path, kind: 'added', before, after, label: `${wordsOf(path)} is new` })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** `accelerators[x].driverVersion` -> `driver version`; `host.nics[eth0.7].mtu` -> `nic eth0.7 mtu`. */
function wordsOf(path: string): string {
  const inner = path.replace(/^accelerators\[[^\]]*\]\.?/, '').replace(/^host\./, '')
  const parts = inner.matchAll(/(?:([^.[\]]+?)s?\[([^\]]*)\]|([^.[\]]+))\.?/g)
  return [...parts].map(([, list, item, key = '']) => (list ? `${list} ${item}` : spaced(key))).join(' ')
}

const spaced = (key: string) =>
  key.replace(/Bytes$/, '').replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)

function show(value: unknown, key: string): string {
  if (value === null || value === undefined) return 'unknown'
  if (typeof value === 'number' && /bytes$|^memoryTotal$/i.test(key)) return `${Math.round((value / 1024 ** 3) * 10) / 10} GiB`
  return typeof value === 'object' ? JSON.stringify(value).slice(0, 200) : String(value)
}
