import type { Accelerator, DeviceType } from './schema.ts'
import {
  parseBytes,
  parseCount,
  parseEnabled,
  parseIdentity,
  parseNumber,
  parsePciAddress,
  parseText,
  parseTextOrNone,
  splitLines,
} from './text.ts'
import { createAccelerator } from './vendor.ts'

/** Values of an indented `key : value` text by path in lower case, such as `ecc mode/current`. The first duplicate wins. */
type Tree = Map<string, string>

/** Parses `nvidia-smi -q` and `ppu-smi -q`: a head, then one block per device. */
export function parseSmiQuery(text: string): { head: Tree; devices: { address: string; tree: Tree }[] } {
  const head: Tree = new Map()
  const devices: { address: string; tree: Tree }[] = []
  let tree = head
  let stack: { indent: number; key: string }[] = []
  for (const line of splitLines(text)) {
    const device = /^(?:GPU|PPU)\s+([0-9a-f:.]{7,16})\s*$/i.exec(line)
    if (device) {
      tree = new Map()
      stack = []
      devices.push({ address: device[1] ?? '', tree })
      continue
    }
    const entry = /^(\s*)(\S.*?)(?:\s*:\s(.*)|\s*:)?$/.exec(line)
    if (!entry) continue
    const [, space = '', key = '', value] = entry
    const indent = space.length
    while (stack.length && (stack.at(-1)?.indent ?? 0) >= indent) stack.pop()
    const path = [...stack.slice(0, 8).map((part) => part.key), key.toLowerCase()].join('/')
    if (value === undefined) stack.push({ indent, key: key.toLowerCase() })
    else if (!tree.has(path)) tree.set(path, value.trim())
  }
  return { head, devices }
}

/** Converts a device block to an accelerator. Supports the labels of NVIDIA and T-Head. */
export function parseSmiQueryDevice(block: { address: string; tree: Tree }, deviceType: DeviceType, vendor: string): Accelerator {
  const { tree } = block
  const get = (...paths: string[]) => paths.map((path) => tree.get(path)).find((value) => parseText(value) !== null)
  const sum = (scope: string, kind: RegExp) => {
    const found = [...tree]
      .filter(([path]) => path.startsWith(`ecc errors/${scope}/`) && kind.test(path))
      .map(([, value]) => parseCount(value))
    const known = found.filter((value) => value !== null)
    return known.length ? known.reduce((a, b) => a + b, 0) : null
  }
  const eccErrors = {
    correctedVolatile: sum('volatile', /(?<!un)correctable$/),
    uncorrectedVolatile: sum('volatile', /uncorrectable/),
    correctedAggregate: sum('aggregate', /(?<!un)correctable$/),
    uncorrectedAggregate: sum('aggregate', /uncorrectable/),
  }
  return createAccelerator(deviceType, vendor, {
    model: parseText(get('product name')),
    uuid: parseIdentity(get('gpu uuid', 'ppu uuid', 'uuid')),
    serial: parseIdentity(get('serial number')),
    slot: parseText(get('rear id', 'module id', 'gpu module id')),
    pciAddress: parsePciAddress(get('pci/bus id')) ?? parsePciAddress(block.address),
    memoryTotal: parseBytes(get('fb memory usage/total', 'memory usage/total')),
    memoryUsed: parseBytes(get('fb memory usage/used', 'memory usage/used')),
    firmwareVersion: parseText(get('vbios version')),
    computeCapability: parseText(get('compute capability', 'cuda compute capability')),
    partitionMode: parseMigMode(get('mig mode/current')),
    eccMode: parseEnabled(get('ecc mode/current')),
    eccErrors: Object.values(eccErrors).some((value) => value !== null) ? eccErrors : null,
    temperature: parseNumber(get('temperature/gpu current temp', 'temperature/ppu current temp')),
    power: parseNumber(
      get(
        'power readings/power draw',
        'gpu power readings/power draw',
        'gpu power readings/instantaneous power draw',
        'gpu power readings/instant power draw',
        'gpu power readings/average power draw',
        'power readings/instantaneous power draw',
        'power readings/average power draw',
      ),
    ),
    utilization: parseNumber(get('utilization/gpu', 'utilization/ppu')),
    ...evaluateDeviceHealth({
      texts: [...tree.values()],
      recovery: get('gpu recovery action', 'ppu recovery action', 'recovery action'),
      resetRequired: get('gpu reset status/reset required'),
      remapFailed: get('remapped rows/remapping failure occurred'),
      remapPending: get('remapped rows/pending'),
      retirementPending: get('retired pages/pending page blacklist', 'retired pages/pending retirement'),
      uncorrected: eccErrors.uncorrectedVolatile,
      channelRepairPending: get('ecc errors/channel repair pending'),
      tpcRepairPending: get('ecc errors/tpc repair pending'),
      fabricState: get('fabric/state'),
      fabricStatus: get('fabric/status'),
      fabricHealth: Object.fromEntries([...tree].filter(([path]) => path.startsWith('fabric/health/'))),
    }),
  })
}

/** `MIG enabled` / `MIG disabled`, null for boards without MIG. */
export const parseMigMode = (cell: unknown): string | null => {
  const mode = parseEnabled(cell)
  return mode && `MIG ${mode}`
}

const isYes = (cell: unknown) => /^(yes|true|1)$/i.test(parseText(cell) ?? '')

/** Placeholders that tools print when the driver cannot read a value. */
const READ_ERROR = /^\[?(Unknown Error|ERR!)\]?$/i

/** Evaluates the health indicators of a device; ok without findings. */
export function evaluateDeviceHealth(indicators: {
  /** All values that the tool printed about the device. */
  texts: readonly string[]
  recovery?: unknown
  resetRequired?: unknown
  remapFailed?: unknown
  remapPending?: unknown
  retirementPending?: unknown
  unrepairable?: unknown
  uncorrected?: number | null
  channelRepairPending?: unknown
  tpcRepairPending?: unknown
  fabricState?: unknown
  fabricStatus?: unknown
  /** Values below `fabric/health` by name. */
  fabricHealth?: Record<string, unknown>
}): Pick<Accelerator, 'health' | 'healthReason'> {
  const recovery = parseTextOrNone(indicators.recovery)
  const has = (words: RegExp) => indicators.texts.some((text) => words.test(text))
  if (has(/\b[GP]PU is lost\b/i)) return { health: 'lost', healthReason: 'GPU is lost' }
  if (has(/\b[GP]PU requires reset\b/i)) return { health: 'critical', healthReason: 'GPU requires reset' }
  if (isYes(indicators.resetRequired)) return { health: 'critical', healthReason: 'reset required' }
  if (isYes(indicators.remapFailed)) return { health: 'critical', healthReason: 'row remapping failed' }
  if (isYes(indicators.unrepairable)) return { health: 'critical', healthReason: 'unrepairable memory' }
  if (recovery) return { health: /drain/i.test(recovery) ? 'warning' : 'critical', healthReason: `recovery action: ${recovery}` }
  if (indicators.uncorrected)
    return { health: 'warning', healthReason: `${indicators.uncorrected} uncorrected memory errors since the driver was loaded` }
  if (isYes(indicators.remapPending)) return { health: 'warning', healthReason: 'row remapping pending' }
  if (isYes(indicators.retirementPending)) return { health: 'warning', healthReason: 'page retirement pending' }
  if (isYes(indicators.channelRepairPending)) return { health: 'warning', healthReason: 'channel repair pending' }
  if (isYes(indicators.tpcRepairPending)) return { health: 'warning', healthReason: 'TPC repair pending' }
  const fabric = fabricProblem(indicators)
  if (fabric) return { health: 'warning', healthReason: fabric }
  const unreadable = indicators.texts.find((text) => READ_ERROR.test(text.trim()))
  if (unreadable !== undefined)
    return { health: 'warning', healthReason: `the tool prints ${unreadable.trim()} in place of a reading` }
  return { health: 'ok', healthReason: null }
}

/**
 * Why the NVLink fabric of a device does not work; null when it works or the device has none. `Not Started` and `In Progress` mean that
 * the fabric manager has not configured it. The values of `fabric/health` differ between drivers: a summary, and flags such as
 * `route_unhealthy`.
 */
function fabricProblem({
  fabricState,
  fabricStatus,
  fabricHealth = {},
}: {
  fabricState?: unknown
  fabricStatus?: unknown
  fabricHealth?: Record<string, unknown>
}): string | null {
  const state = parseText(fabricState)
  if (state && !/^(completed|not supported)$/i.test(state)) return `${FABRIC_STATE} ${state}`
  const status = parseText(fabricStatus)
  if (status && !/^success$/i.test(status)) return `fabric status: ${status}`
  for (const [path, value] of Object.entries(fabricHealth)) {
    const name = (path.split('/').at(-1) ?? path).replaceAll('_', ' ').toLowerCase()
    const text = parseText(value)
    if (name === 'summary' ? text && !/^healthy$/i.test(text) : isYes(value) || /^(degraded|unhealthy)$/i.test(text ?? ''))
      return `fabric health: ${name === 'summary' ? text : `${name}: ${text}`}`
  }
  return null
}

/** Prefix of the reason for a fabric that is not configured. */
export const FABRIC_STATE = 'fabric state:'
