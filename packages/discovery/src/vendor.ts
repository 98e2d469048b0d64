import type { Accelerator, DeviceType, Partition } from './schema.ts'

/** Result of a vendor parser. */
export interface VendorResult {
  accelerators: Accelerator[]
  /** Version of the tool, or of the driver package when the tool prints only that. */
  version: string | null
  /** Failure message of the tool; null when it succeeded. */
  failure: string | null
  /** Actual tool when another vendor uses the same tool name; null otherwise. */
  foreign: string | null
  warnings: string[]
  /** Messages of the tool about lost devices, by PCI address. */
  lost: Map<string, string>
  /** Toolkit and driver versions by name. */
  toolkits: Record<string, string>
}

export const vendorResult = (part: Partial<VendorResult> = {}): VendorResult => ({
  accelerators: [],
  version: null,
  failure: null,
  foreign: null,
  warnings: [],
  lost: new Map(),
  toolkits: {},
  ...part,
})

/** Creates a device with unknown values; `part` sets the known ones. */
export const createAccelerator = (deviceType: DeviceType, vendor: string, part: Partial<Accelerator> = {}): Accelerator => ({
  deviceType,
  vendor,
  model: null,
  index: null,
  uuid: null,
  serial: null,
  slot: null,
  pciAddress: null,
  memoryTotal: null,
  memoryUsed: null,
  memoryUnified: false,
  driverVersion: null,
  firmwareVersion: null,
  toolkitVersion: null,
  computeCapability: null,
  partitionMode: null,
  partitions: [],
  numaNode: null,
  interconnect: null,
  eccMode: null,
  eccErrors: null,
  temperature: null,
  power: null,
  utilization: null,
  health: 'unknown',
  healthReason: null,
  source: 'tool',
  confidence: 'high',
  ...part,
})

/** Fills unknown values of `device` from `more`, the same device reported by another call. */
export function fillMissing(device: Accelerator, more: Accelerator): Accelerator {
  const merged: Record<string, unknown> = { ...device }
  for (const [key, value] of Object.entries(more)) {
    const own = merged[key]
    if (own === null || own === undefined || (Array.isArray(own) && own.length === 0)) merged[key] = value
  }
  const result = merged as Accelerator
  if (device.health === 'unknown' && more.health !== 'unknown')
    Object.assign(result, { health: more.health, healthReason: more.healthReason })
  result.partitions = mergePartitions(device.partitions, more.partitions)
  result.memoryUnified = device.memoryUnified || more.memoryUnified
  return result
}

/** Merges partitions reported by two calls, matched by UUID, else by index. */
function mergePartitions(first: Partition[], second: Partition[]): Partition[] {
  if (!first.length || !second.length) return first.length ? first : second
  return first.map((own) => {
    const other = second.find((more) =>
      own.uuid && more.uuid ? own.uuid === more.uuid : own.index !== null && own.index === more.index,
    )
    if (!other) return own
    return {
      ...own,
      uuid: own.uuid ?? other.uuid,
      profile: own.profile ?? other.profile,
      parentUuid: own.parentUuid ?? other.parentUuid,
      memoryTotal: own.memoryTotal ?? other.memoryTotal,
      instance: own.instance ?? other.instance ?? null,
    }
  })
}

/** Matches two reports of one device by UUID, else by PCI address, else by index. */
export function isSameDevice(a: Accelerator, b: Accelerator): boolean {
  if (a.uuid && b.uuid) return a.uuid === b.uuid
  if (a.pciAddress && b.pciAddress)
    return a.pciAddress === b.pciAddress && (a.slot === null || b.slot === null || a.slot === b.slot)
  return a.index !== null && a.index === b.index
}

/** Merges two device lists. Devices that only the second contains are appended. Devices within one list are never merged. */
export function mergeDevices(first: Accelerator[], second: Accelerator[]): Accelerator[] {
  const merged = [...first]
  for (const device of second) {
    const at = first.findIndex((candidate) => isSameDevice(candidate, device))
    const match = merged[at]
    if (match) merged[at] = fillMissing(match, device)
    else merged.push(device)
  }
  return merged
}

/** Removes duplicate devices and adds a warning. One UUID at two PCI addresses counts as two devices. */
export function removeDuplicates(devices: Accelerator[], tool: string): { accelerators: Accelerator[]; warnings: string[] } {
  const warnings: string[] = []
  const accelerators: Accelerator[] = []
  for (const device of devices) {
    const twin = device.uuid ? accelerators.find((other) => other.uuid === device.uuid) : undefined
    if (twin && (twin.pciAddress === device.pciAddress || !device.pciAddress || !twin.pciAddress)) {
      warnings.push(`${tool}: ${device.uuid} is listed twice; ignored the second entry`)
      continue
    }
    if (twin) warnings.push(`${tool}: ${twin.pciAddress} and ${device.pciAddress} report the same UUID ${device.uuid}`)
    accelerators.push(device)
  }
  return { accelerators, warnings }
}
