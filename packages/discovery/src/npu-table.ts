import type { Accelerator, Health } from './schema.ts'
import { parseNumber, parsePciAddress, parseText, splitLines } from './text.ts'
import { createAccelerator } from './vendor.ts'

const HEALTH: Record<string, Health> = { ok: 'ok', warning: 'warning', alarm: 'critical', critical: 'critical' }

/** Parses used and total MiB, such as `33724/ 65536`. Total 0 means that the chip lacks this kind of memory. */
function parseMemoryPairs(cell: string): { used: number; total: number }[] {
  return [...cell.matchAll(/(\d+)\s*\/\s*(\d+)/g)].map(([, used, total]) => ({
    used: Number(used) * 1024 ** 2,
    total: Number(total) * 1024 ** 2,
  }))
}

/**
 * Parses the table of `npu-smi info`. Each chip has two rows: name, health, power and temperature; then chip, PCI address, load and memory.
 * Column widths differ between releases, so `|` and spaces are the separators, and the header determines the memory columns. From A3 on,
 * the second row contains `Chip Phy-ID`; on 950 the card ID has a separate cell. Stops at the process table, which has similar rows.
 */
export function parseNpuTable(text: string): Accelerator[] {
  const devices: Accelerator[] = []
  let physical = false
  let hugepages = false
  let memoryNames: string[] = []
  let card: {
    id: string
    name: string | null
    health: Health
    status: string | null
    power: number | null
    temperature: number | null
  } | null = null
  for (const line of splitLines(text)) {
    if (/Process id|No running processes|Process name/i.test(line)) break
    if (!line.trimStart().startsWith('|')) continue
    const cells = line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim())
    if (/\bBus-Id\b/.test(line)) {
      physical = /Phy-ID|Device/i.test(line)
      memoryNames = [...line.matchAll(/(HBM|Memory|DDR)-Usage/g)].map(([, name = '']) => name)
      continue
    }
    if (/\bHealth\b/.test(line)) {
      hugepages = /Hugepages/i.test(line)
      continue
    }
    const words = cells.map((cell) => cell.split(/\s+/).filter((word) => word))
    const bus = words.findIndex((cell) => cell.length === 1 && (parsePciAddress(cell[0]) !== null || /^NA$/i.test(cell[0] ?? '')))
    const healthAt = cells.findIndex((cell) => /^(OK|Warning|Alarm|Critical|UNKNOWN|NA|-)$/i.test(cell))
    // A second row has a PCI address in its second filled cell, or NA there and memory pairs in its last cell.
    const isChip =
      card !== null &&
      bus > 0 &&
      (parsePciAddress(words[bus]?.[0]) !== null || parseMemoryPairs(cells.at(-1) ?? '').length > 0) &&
      /^(\d|\s|NA|-)*$/i.test(cells.slice(0, bus).join(' '))
    if (!isChip && healthAt > 0 && /^\d/.test(cells[0] ?? '')) {
      const [id = '', ...name] = words.slice(0, healthAt).flat()
      const figures = (cells[healthAt + 1] ?? '').split(/\s+/)
      const status = parseText(cells[healthAt])
      card = {
        id,
        name: parseText(name.join(' ')),
        health: HEALTH[(status ?? '').toLowerCase()] ?? 'unknown',
        status,
        power: parseNumber(figures[0]),
        temperature: parseNumber(figures[1]),
      }
      continue
    }
    if (!isChip || !card) continue
    const [chip = '0', phy] = words.slice(0, bus).flat()
    const figures = cells.slice(bus + 1).join(' ')
    const memory = parseMemoryPairs(figures).slice(
      hugepages && parseMemoryPairs(figures).length > memoryNames.length && memoryNames.length
        ? parseMemoryPairs(figures).length - memoryNames.length
        : 0,
    )
    const hbm = memory[memoryNames.indexOf('HBM')]
    const main = hbm && hbm.total > 0 ? hbm : memory.find((pair) => pair.total > 0)
    devices.push(
      createAccelerator('huawei_npu', 'huawei', {
        model: card.name,
        index: physical && phy !== undefined ? parseNumber(phy) : null,
        slot: `${card.id}/${chip}`,
        pciAddress: parsePciAddress(cells[bus]),
        memoryTotal: main?.total ?? null,
        memoryUsed: main?.used ?? null,
        temperature: card.temperature,
        power: card.power,
        utilization: parseNumber(/^\d+(\.\d+)?(?=\s)/.exec(figures)?.[0]),
        health: card.health,
        healthReason: card.health === 'ok' ? null : card.status && `health: ${card.status}`,
      }),
    )
  }
  return devices
}
