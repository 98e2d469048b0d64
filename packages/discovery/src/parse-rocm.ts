import type { Accelerator } from './schema.ts'
import { bytes, count, firstLine, identity, json, known, number, pciAddress, record } from './text.ts'
import { accelerator, fill, reading, type VendorReading } from './vendor.ts'

/**
 * Reads `rocm-smi … --json`: an object `card0`, `card1`, … and `system`, every value a string, the keys changing with the release.
 * Hygon's hy-smi prints the same shape with other keys; its devices become `other`, never amd_gpu.
 */
export function parseRocm(texts: string[]): VendorReading {
  const cards = new Map<number, Accelerator>()
  let driver: string | null = null
  let hygon = false
  for (const text of texts) {
    const root = record(json(text))
    driver ??= known(record(root.system)['Driver version'])
    for (const [key, value] of Object.entries(root)) {
      const index = /^card(\d{1,4})$/.exec(key)?.[1]
      if (index === undefined) continue
      const card = fromCard(Number(index), record(value))
      hygon ||= card.vendor === 'hygon'
      const known = cards.get(card.index ?? 0)
      cards.set(card.index ?? 0, known ? fill(known, card) : card)
    }
  }
  const accelerators = [...cards.values()].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
  for (const card of accelerators) {
    card.driverVersion ??= card.vendor === 'amd' && driver && /^\d[\w.+-]*$/.test(driver) ? driver : null
    // What identifies the vendor may be in one of the calls only.
    if (hygon) Object.assign(card, { deviceType: 'other', vendor: 'hygon' })
  }
  const all = texts.join('\n')
  return reading({
    accelerators,
    failure: accelerators.length ? null : (firstLine(all, /error|no json data|fail|unable|not /i) ?? firstLine(all)),
    foreign: hygon ? 'Hygon DCU' : null,
  })
}

function fromCard(index: number, card: Record<string, unknown>): Accelerator {
  // Keys differ in case and wording between releases: the first that matches and has a value.
  const get = (...patterns: RegExp[]) => {
    for (const pattern of patterns) {
      const found = Object.entries(card).find(([key, value]) => pattern.test(key) && known(value) !== null)
      if (found) return known(found[1])
    }
    return null
  }
  const hygon =
    Object.keys(card).some((key) => /^(DCU|HCU)\b|vram Total Memory \(MiB\)/i.test(key)) ||
    /haiguang|hygon/i.test(get(/^card vendor$/i) ?? '')
  const name = (pattern: RegExp) => {
    const text = get(pattern)
    return text && !/^0x[0-9a-f]+$/i.test(text) ? text : null
  }
  const modes = [get(/^compute partition$/i), get(/^memory partition$/i)].filter((mode) => mode !== null)
  const total = get(/^VRAM Total Memory \(B\)$/i)
  const used = get(/^VRAM Total Used Memory \(B\)$/i)
  return accelerator(hygon ? 'other' : 'amd_gpu', hygon ? 'hygon' : 'amd', {
    model: name(/^card series$/i) ?? name(/^device name$/i) ?? name(/^card model$/i),
    index,
    uuid: identity(get(/^unique id$/i)),
    serial: identity(get(/^serial number$/i)),
    pciAddress: pciAddress(get(/^pci bus$/i)),
    memoryTotal: total === null ? bytes(get(/^vram total memory \(MiB\)$/i), 'MiB') : bytes(total, 'B'),
    memoryUsed: used === null ? bytes(get(/^vram total used memory \(MiB\)$/i), 'MiB') : bytes(used, 'B'),
    firmwareVersion: get(/^vbios version$/i),
    computeCapability: get(/^gfx version$/i),
    partitionMode: modes.join('/') || null,
    numaNode: count(get(/numa node$/i)),
    temperature: number(
      get(/Temperature \(Sensor edge\)/i, /Temperature \(Sensor (junction|hotspot)\)/i, /Temperature \(Sensor mem/i),
    ),
    power: number(get(/Current Socket Graphics Package Power/i, /Average Graphics Package Power/i, /Package Power/i)),
    utilisation: number(get(/^(GPU|DCU|HCU) use \(%\)$/i)),
    health: Object.keys(card).length ? 'ok' : 'unknown',
  })
}
