import type { Accelerator, Health } from './schema.ts'
import { known, linesOf, number, pciAddress } from './text.ts'
import { accelerator } from './vendor.ts'

const HEALTH: Record<string, Health> = { ok: 'ok', warning: 'warning', alarm: 'critical', critical: 'critical' }

/** `0 / 0`, `33724/ 65536`: used and total MiB. A pair with total 0 is a kind of memory that the chip has not got. */
function pairs(cell: string): { used: number; total: number }[] {
  return [...cell.matchAll(/(\d+)\s*\/\s*(\d+)/g)].map(([, used, total]) => ({
    used: Number(used) * 1024 ** 2,
    total: Number(total) * 1024 ** 2,
  }))
}

/**
 * Reads the box table of `npu-smi info` (plain text). Two rows per chip: name, health, power and temperature; then chip, PCI address,
 * load and memory. Widths differ from release to release (80 to 116), so only `|` and blanks divide, and the header's words tell
 * which memory columns there are. On A3 and later the second row holds `Chip Phy-ID`; on 950 the card's id has a cell of its own.
 * Ends at the table of processes, whose rows look alike.
 */
export function npuTable(text: string): Accelerator[] {
  const devices: Accelerator[] = []
  let physical = false
  let hugepages = false
  let memoryNames: string[] = []
  let card: {
    id: string
    name: string | null
    health: Health
    said: string | null
    power: number | null
    temperature: number | null
  } | null = null
  for (const line of linesOf(text)) {
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
    const bus = words.findIndex((cell) => cell.length === 1 && (pciAddress(cell[0]) !== null || /^NA$/i.test(cell[0] ?? '')))
    const healthAt = cells.findIndex((cell) => /^(OK|Warning|Alarm|Critical|UNKNOWN|NA|-)$/i.test(cell))
    // A second row has the PCI address in its second filled cell, or NA there on boards without and memory pairs in its last.
    const isChip =
      card !== null &&
      bus > 0 &&
      (pciAddress(words[bus]?.[0]) !== null || pairs(cells.at(-1) ?? '').length > 0) &&
      /^(\d|\s|NA|-)*$/i.test(cells.slice(0, bus).join(' '))
    if (!isChip && healthAt > 0 && /^\d/.test(cells[0] ?? '')) {
      const [id = '', ...name] = words.slice(0, healthAt).flat()
      const figures = (cells[healthAt + 1] ?? '').split(/\s+/)
      const said = known(cells[healthAt])
      card = {
        id,
        name: known(name.join(' ')),
        health: HEALTH[(said ?? '').toLowerCase()] ?? 'unknown',
        said,
        power: number(figures[0]),
        temperature: number(figures[1]),
      }
      continue
    }
    if (!isChip || !card) continue
    const [chip = '0', phy] = words.slice(0, bus).flat()
    const figures = cells.slice(bus + 1).join(' ')
    const memory = pairs(figures).slice(
      hugepages && pairs(figures).length > memoryNames.length && memoryNames.length
        ? pairs(figures).length - memoryNames.length
        : 0,
    )
    const hbm = memory[memoryNames.indexOf('HBM')]
    const main = hbm && hbm.total > 0 ? hbm : memory.find((pair) => pair.total > 0)
    devices.push(
      accelerator('huawei_npu', 'huawei', {
        model: card.name,
        index: physical && phy !== undefined ? number(phy) : null,
        slot: `${card.id}/${chip}`,
        pciAddress: pciAddress(cells[bus]),
        memoryTotal: main?.total ?? null,
        memoryUsed: main?.used ?? null,
        temperature: card.temperature,
        power: card.power,
        utilisation: number(/^\d+(\.\d+)?(?=\s)/.exec(figures)?.[0]),
        health: card.health,
        healthReason: card.health === 'ok' ? null : card.said && `health: ${card.said}`,
      }),
    )
  }
  return devices
}
