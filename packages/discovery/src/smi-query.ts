import type { Accelerator, DeviceType } from './schema.ts'
import { bytes, count, enabled, identity, known, knownOrNone, linesOf, number, pciAddress } from './text.ts'
import { accelerator } from './vendor.ts'

/** Values of an indented `key : value` text by their path, keys in lower case: `ecc mode/current`. The first of equals wins. */
type Tree = Map<string, string>

/** Reads the text of `nvidia-smi -q` and `ppu-smi -q`: the head, then one block per `GPU 00000000:1B:00.0`. */
export function smiQuery(text: string): { head: Tree; devices: { address: string; tree: Tree }[] } {
  const head: Tree = new Map()
  const devices: { address: string; tree: Tree }[] = []
  let tree = head
  let stack: { indent: number; key: string }[] = []
  for (const line of linesOf(text)) {
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

/** One device block of `-q` as an accelerator. The labels of NVIDIA and T-Head differ in few words; both are looked up. */
export function smiQueryDevice(block: { address: string; tree: Tree }, deviceType: DeviceType, vendor: string): Accelerator {
  const { tree } = block
  const get = (...paths: string[]) => paths.map((path) => tree.get(path)).find((value) => known(value) !== null)
  const sum = (scope: string, kind: RegExp) => {
    const found = [...tree]
      .filter(([path]) => path.startsWith(`ecc errors/${scope}/`) && kind.test(path))
      .map(([, value]) => count(value))
    const known = found.filter((value) => value !== null)
    return known.length ? known.reduce((a, b) => a + b, 0) : null
  }
  const eccErrors = {
    correctedVolatile: sum('volatile', /(?<!un)correctable$/),
    uncorrectedVolatile: sum('volatile', /uncorrectable/),
    correctedAggregate: sum('aggregate', /(?<!un)correctable$/),
    uncorrectedAggregate: sum('aggregate', /uncorrectable/),
  }
  const fabric = knownOrNone(get('fabric/state'))
  return accelerator(deviceType, vendor, {
    model: known(get('product name')),
    uuid: identity(get('gpu uuid', 'ppu uuid', 'uuid')),
    serial: identity(get('serial number')),
    slot: known(get('rear id', 'module id', 'gpu module id')),
    pciAddress: pciAddress(get('pci/bus id')) ?? pciAddress(block.address),
    memoryTotal: bytes(get('fb memory usage/total', 'memory usage/total')),
    memoryUsed: bytes(get('fb memory usage/used', 'memory usage/used')),
    firmwareVersion: known(get('vbios version')),
    computeCapability: known(get('compute capability', 'cuda compute capability')),
    partitionMode: migMode(get('mig mode/current')),
    eccMode: enabled(get('ecc mode/current')),
    eccErrors: Object.values(eccErrors).some((value) => value !== null) ? eccErrors : null,
    temperature: number(get('temperature/gpu current temp', 'temperature/ppu current temp')),
    power: number(
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
    utilisation: number(get('utilization/gpu', 'utilization/ppu')),
    ...deviceHealth({
      lost: [...tree.values()].some((value) => /\b[GP]PU is lost\b/i.test(value)),
      recovery: get('gpu recovery action', 'ppu recovery action', 'recovery action'),
      resetRequired: get('gpu reset status/reset required'),
      remapFailed: get('remapped rows/remapping failure occurred'),
      remapPending: get('remapped rows/pending'),
      retirementPending: get('retired pages/pending page blacklist', 'retired pages/pending retirement'),
      uncorrected: eccErrors.uncorrectedVolatile,
      fabric,
    }),
  })
}

/** `MIG enabled` / `MIG disabled`, null for boards without MIG. */
export const migMode = (cell: unknown): string | null => {
  const mode = enabled(cell)
  return mode && `MIG ${mode}`
}

const yes = (cell: unknown) => /^(yes|true|1)$/i.test(known(cell) ?? '')

/** Health of an NVIDIA-like device out of what it says of itself; ok when it complains of nothing. */
export function deviceHealth(signs: {
  lost: boolean
  recovery?: unknown
  resetRequired?: unknown
  remapFailed?: unknown
  remapPending?: unknown
  retirementPending?: unknown
  unrepairable?: unknown
  uncorrected?: number | null
  fabric?: string | null
}): Pick<Accelerator, 'health' | 'healthReason'> {
  const recovery = knownOrNone(signs.recovery)
  if (signs.lost) return { health: 'lost', healthReason: 'GPU is lost' }
  if (yes(signs.resetRequired)) return { health: 'critical', healthReason: 'reset required' }
  if (yes(signs.remapFailed)) return { health: 'critical', healthReason: 'row remapping failed' }
  if (yes(signs.unrepairable)) return { health: 'critical', healthReason: 'unrepairable memory' }
  if (recovery) return { health: /drain/i.test(recovery) ? 'warning' : 'critical', healthReason: `recovery action: ${recovery}` }
  if (signs.uncorrected)
    return { health: 'warning', healthReason: `${signs.uncorrected} uncorrected memory errors since the driver was loaded` }
  if (yes(signs.remapPending)) return { health: 'warning', healthReason: 'row remapping pending' }
  if (yes(signs.retirementPending)) return { health: 'warning', healthReason: 'page retirement pending' }
  return { health: 'ok', healthReason: null }
}
