import type { Accelerator } from './schema.ts'
import {
  asRecord,
  firstLine,
  parseBytes,
  parseCount,
  parseIdentity,
  parseJson,
  parseNumber,
  parsePciAddress,
  parseText,
} from './text.ts'
import { createAccelerator, fillMissing, type VendorResult, vendorResult } from './vendor.ts'

/**
 * Parses `rocm-smi … --json`: an object with `card0`, `card1`, … and `system`; all values are strings, and keys differ between releases.
 * Hygon's hy-smi prints the same layout with other keys; its devices are `other`, never amd_gpu.
 */
export function parseRocm(texts: string[]): VendorResult {
  const cards = new Map<number, Accelerator>()
  let driver: string | null = null
  let hygon = false
  for (const text of texts) {
    const root = asRecord(parseJson(text))
    driver ??= parseText(asRecord(root.system)['Driver version'])
    for (const [key, value] of Object.entries(root)) {
      const index = /^card(\d{1,4})$/.exec(key)?.[1]
      if (index === undefined) continue
      const card = parseCard(Number(index), asRecord(value))
      hygon ||= card.vendor === 'hygon'
      const known = cards.get(card.index ?? 0)
      cards.set(card.index ?? 0, known ? fillMissing(known, card) : card)
    }
  }
  const accelerators = [...cards.values()].sort((a, b) => (a.index ?? 0) - (b.index ?? 0))
  for (const card of accelerators) {
    card.driverVersion ??= card.vendor === 'amd' && driver && /^\d[\w.+-]*$/.test(driver) ? driver : null
    // Only some calls may identify the vendor.
    if (hygon) Object.assign(card, { deviceType: 'other', vendor: 'hygon' })
  }
  const all = texts.join('\n')
  return vendorResult({
    accelerators,
    failure: accelerators.length ? null : (firstLine(all, /error|no json data|fail|unable|not /i) ?? firstLine(all)),
    foreign: hygon ? 'Hygon DCU' : null,
  })
}

function parseCard(index: number, card: Record<string, unknown>): Accelerator {
  // Keys differ between releases: use the first match with a value.
  const get = (...patterns: RegExp[]) => {
    for (const pattern of patterns) {
      const found = Object.entries(card).find(([key, value]) => pattern.test(key) && parseText(value) !== null)
      if (found) return parseText(found[1])
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
  return createAccelerator(hygon ? 'other' : 'amd_gpu', hygon ? 'hygon' : 'amd', {
    model: name(/^card series$/i) ?? name(/^device name$/i) ?? name(/^card model$/i),
    index,
    uuid: parseIdentity(get(/^unique id$/i)),
    serial: parseIdentity(get(/^serial number$/i)),
    pciAddress: parsePciAddress(get(/^pci bus$/i)),
    memoryTotal: total === null ? parseBytes(get(/^vram total memory \(MiB\)$/i), 'MiB') : parseBytes(total, 'B'),
    memoryUsed: used === null ? parseBytes(get(/^vram total used memory \(MiB\)$/i), 'MiB') : parseBytes(used, 'B'),
    firmwareVersion: get(/^vbios version$/i),
    computeCapability: get(/^gfx version$/i),
    partitionMode: modes.join('/') || null,
    numaNode: parseCount(get(/numa node$/i)),
    temperature: parseNumber(
      get(/Temperature \(Sensor edge\)/i, /Temperature \(Sensor (junction|hotspot)\)/i, /Temperature \(Sensor mem/i),
    ),
    power: parseNumber(get(/Current Socket Graphics Package Power/i, /Average Graphics Package Power/i, /Package Power/i)),
    utilization: parseNumber(get(/^(GPU|DCU|HCU) use \(%\)$/i)),
    health: Object.keys(card).length ? 'ok' : 'unknown',
  })
}
