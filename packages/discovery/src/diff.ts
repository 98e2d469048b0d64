import type { Accelerator, Discovery } from './schema.ts'

export interface DiscoveryChange {
  /** Path of the value, such as `accelerators[GPU-…].driverVersion` or `host.kernel`. */
  path: string
  kind: 'added' | 'removed' | 'changed'
  before: unknown
  after: unknown
  /** Human-readable summary. */
  label: string
}

export interface DiffOptions {
  /** Include volatile values: temperatures, utilization, used memory, uptime, free space. */
  volatile?: boolean
  /** The discoveries are of two nodes: ignore identifiers, and match accelerators by position. */
  acrossNodes?: boolean
}

const VOLATILE = new Set(['temperature', 'power', 'utilization', 'memoryUsed', 'uptimeSeconds', 'availableBytes', 'durationMs'])
/** Values that identify a node. */
const IDENTITY = new Set('hostname fqdn machineId bootId uuid serial mac addresses primaryAddress guid lid'.split(' '))
/** Keys of list items, independent of their order. */
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
 * Compares two discoveries of one node, or of two nodes. Accelerators are matched by vendor and UUID, else by PCI address and chip, else
 * by serial and chip. The index is used only without other identifiers, so renumbering is not a hardware change.
 */
export function diffDiscoveries(before: Discovery, after: Discovery, options: DiffOptions = {}): DiscoveryChange[] {
  const changes: DiscoveryChange[] = []
  const { acrossNodes = false } = options
  const skip: Skip = (key) => (!options.volatile && VOLATILE.has(key)) || (acrossNodes && IDENTITY.has(key))
  const devices = [before, after].map((one) => (acrossNodes ? one.accelerators.map(withoutIdentity) : one.accelerators))
  compareAccelerators(devices[0] ?? [], devices[1] ?? [], changes, skip)
  compare('host', before.host, after.host, changes, skip)
  compare('tools', before.tools, after.tools, changes, skip)
  return changes
}

function compareAccelerators(before: Accelerator[], after: Accelerator[], changes: DiscoveryChange[], skip: Skip): void {
  const left = [...after]
  const gone: Accelerator[] = []
  for (const [pass, keyOf] of KEYS.entries()) {
    const open = pass === 0 ? before : gone.splice(0)
    for (const device of open) {
      const key = keyOf(device)
      const at = key === null ? -1 : left.findIndex((other) => keyOf(other) === key)
      const [match] = at < 0 ? [] : left.splice(at, 1)
      if (!match) gone.push(device)
      else if (pass > 0 && device.uuid && match.uuid && device.uuid !== match.uuid) recordReplacement(device, match, changes)
      else compareDevice(device, match, changes, skip)
    }
  }
  for (const device of gone)
    changes.push({
      path: `accelerators[${deviceName(device)}]`,
      kind: 'removed',
      before: device,
      after: null,
      label: `${deviceTitle(device)} removed (${deviceName(device)})`,
    })
  for (const device of left)
    changes.push({
      path: `accelerators[${deviceName(device)}]`,
      kind: 'added',
      before: null,
      after: device,
      label: `${deviceTitle(device)} added (${deviceName(device)})`,
    })
}

/** Identifying keys of a device, most reliable first. */
const KEYS: ((device: Accelerator) => string | null)[] = [
  (device) => device.uuid && `${device.vendor} ${device.uuid}`,
  (device) => device.pciAddress && `${device.vendor} ${device.pciAddress} ${device.slot?.split('/')[1] ?? ''}`,
  (device) => device.serial && `${device.vendor} ${device.serial} ${device.slot ?? ''}`,
  (device) => (device.uuid || device.serial || device.index === null ? null : `${device.vendor} number ${device.index}`),
]

/** Removes the identifiers of a device. */
const withoutIdentity = (device: Accelerator): Accelerator => ({
  ...device,
  uuid: null,
  serial: null,
  partitions: device.partitions.map((partition) => ({ ...partition, uuid: null, parentUuid: null })),
})

const deviceName = (device: Accelerator) =>
  device.uuid ?? device.pciAddress ?? device.serial ?? device.slot ?? `index ${device.index}`
const deviceTitle = (device: Accelerator) => `accelerator ${device.index ?? device.pciAddress ?? '?'}`

function recordReplacement(before: Accelerator, after: Accelerator, changes: DiscoveryChange[]): void {
  const label = `${deviceTitle(after)} at ${after.pciAddress ?? after.slot} was replaced: ${deviceName(before)} -> ${deviceName(after)}`
  changes.push({ path: `accelerators[${deviceName(before)}]`, kind: 'changed', before, after, label })
}

function compareDevice(before: Accelerator, after: Accelerator, changes: DiscoveryChange[], skip: Skip): void {
  const own: DiscoveryChange[] = []
  compare(`accelerators[${deviceName(after)}]`, before, after, own, skip)
  for (const change of own) changes.push({ ...change, label: `${deviceTitle(after)}: ${change.label}` })
}

/** Compares two values recursively and records differences. */
function compare(path: string, before: unknown, after: unknown, changes: DiscoveryChange[], skip: Skip): void {
  if (Object.is(before, after)) return
  const key = /(?:^|\.)(\w+)$/.exec(path)?.[1] ?? path
  if (Array.isArray(before) && Array.isArray(after)) {
    const itemName = LISTS[key]
    if (itemName) {
      for (const [id, oldItem, newItem] of pairItems(itemName, before, after))
        compareItem(`${path}[${id}]`, oldItem, newItem, changes, skip)
      return
    }
    if (JSON.stringify(before) === JSON.stringify(after)) return
  } else if (isRecord(before) && isRecord(after)) {
    for (const inner of new Set([...Object.keys(before), ...Object.keys(after)]))
      if (!skip(inner)) compare(`${path}.${inner}`, before[inner] ?? null, after[inner] ?? null, changes, skip)
    return
  }
  changes.push({
    path,
    kind: 'changed',
    before,
    after,
    label: `${pathLabel(path)} ${formatValue(before, key)} -> ${formatValue(after, key)}`,
  })
}

type Item = Record<string, unknown>
type Skip = (key: string) => boolean

/** Pairs items of two lists by key. */
function pairItems(itemName: (item: Item) => string, before: unknown[], after: unknown[]): [string, Item | null, Item | null][] {
  const oldItems = new Map(before.filter(isRecord).map((item) => [itemName(item), item]))
  const newItems = new Map(after.filter(isRecord).map((item) => [itemName(item), item]))
  return [...new Set([...oldItems.keys(), ...newItems.keys()])].map((id) => [
    id,
    oldItems.get(id) ?? null,
    newItems.get(id) ?? null,
  ])
}

function compareItem(path: string, before: Item | null, after: Item | null, changes: DiscoveryChange[], skip: Skip): void {
  if (before && after) compare(path, before, after, changes, skip)
  else if (before) changes.push({ path, kind: 'removed', before, after, label: `${pathLabel(path)} removed` })
  else changes.push({ path, kind: 'added', before, after, label: `${pathLabel(path)} added` })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** `accelerators[x].driverVersion` -> `driver version`; `host.nics[eth0.7].mtu` -> `nic eth0.7 mtu`. */
function pathLabel(path: string): string {
  const inner = path.replace(/^accelerators\[[^\]]*\]\.?/, '').replace(/^host\./, '')
  const parts = inner.matchAll(/(?:([^.[\]]+?)s?\[([^\]]*)\]|([^.[\]]+))\.?/g)
  return [...parts].map(([, list, item, key = '']) => (list ? `${list} ${item}` : splitCamelCase(key))).join(' ')
}

const splitCamelCase = (key: string) =>
  key.replace(/Bytes$/, '').replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)

function formatValue(value: unknown, key: string): string {
  if (value === null || value === undefined) return 'unknown'
  if (typeof value === 'number' && /bytes$|^memoryTotal$/i.test(key)) return `${Math.round((value / 1024 ** 3) * 10) / 10} GiB`
  return typeof value === 'object' ? JSON.stringify(value).slice(0, 200) : String(value)
}
