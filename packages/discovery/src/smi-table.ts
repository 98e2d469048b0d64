import type { Accelerator, DeviceType } from './schema.ts'
import { parseBytes, parseEnabled, parseNumber, parsePciAddress, parseText, splitLines } from './text.ts'
import { createAccelerator } from './vendor.ts'

/** Parses the banner of nvidia-smi and similar tools: `| PPU-SMI 1.28   Driver Version: 2.1.0-dbda51  HGGC Version: 13.0 |`. */
export function parseSmiBanner(text: string): { tool: string | null; version: string | null; labels: Record<string, string> } {
  const line = splitLines(text).find((candidate) => /\b[A-Z]+-SMI\b.*\bVersion\s*:/.test(candidate)) ?? ''
  const labels: Record<string, string> = {}
  for (const [, label = '', value = ''] of line.matchAll(/([A-Za-z][A-Za-z-]*(?: UMD)?(?: [Vv]ersion)?)\s*:\s*([^\s|]+)/g))
    if (parseText(value)) labels[label.replace(/ version$/i, '').toLowerCase()] = value
  const [, tool = null, version = null] = /\b([A-Z]+-SMI)\b\s*(\d[\w.]*)?/.exec(line) ?? []
  return { tool, version, labels }
}

/** xpu-smi breaks names after 22 characters, also within a word, and indents the other rows. A row may end with a space. */
const NAME_WIDTH = 22
const NAME_INDENT = 6
const wrapped = (name: string, rows: number): string => name.padEnd(NAME_WIDTH * rows)

const SENSOR_ERROR = { health: 'critical', healthReason: 'the tool prints ERR! in place of a reading' } as const

/**
 * Parses the device table of nvidia-smi and of similar tools (ppu-smi, Kunlunxin's xpu-smi): a row with index, name and PCI address, then
 * a row with temperature, power, memory and load. Column widths vary, so `|` and spaces are the separators. Stops at the tables of MIG
 * devices and processes, which have similar rows.
 */
export function parseSmiTable(text: string, deviceType: DeviceType, vendor: string): Accelerator[] {
  const devices: Accelerator[] = []
  let current: Accelerator | null = null
  /** Rows of the name of the current device so far. */
  let rows = 0
  for (const line of splitLines(text)) {
    if (/\b(MIG devices|Processes)\s*:/.test(line)) break
    const head = /^\|\s*(\d{1,4})\s+(\S.*?)\s*\|\s*([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s*([^|]*)\|\s*([^|]*)\|/i.exec(
      line,
    )
    if (head) {
      const [, index, name = '', address, , ecc = ''] = head
      const model = name.replace(/\s+(On|Off|N\/A|Enabled|Disabled)\s*$/i, '').trim()
      current = createAccelerator(deviceType, vendor, {
        index: Number(index),
        model: parseText(model),
        pciAddress: parsePciAddress(address),
      })
      // A number of uncorrected errors means that ECC is enabled.
      if (/^\d+\s*$/.test(ecc)) {
        current.eccMode = 'enabled'
        current.eccErrors = {
          correctedVolatile: null,
          uncorrectedVolatile: Number(ecc),
          correctedAggregate: null,
          uncorrectedAggregate: null,
        }
      }
      current.health = 'ok'
      if (/GPU is lost/.test(line)) Object.assign(current, { health: 'lost', healthReason: 'GPU is lost' })
      else if (/ERR!/.test(line)) Object.assign(current, SENSOR_ERROR)
      if (/^(Enabled|Disabled)\s*$/.test(ecc)) current.eccMode = parseEnabled(ecc)
      rows = 1
      devices.push(current)
      continue
    }
    const [sensors = '', used = '', load = ''] = line.split('|').slice(1)
    if (!current) continue
    // The second row contains power usage and limit; its first cell can also contain the fan speed.
    if (!/\s\/\s/.test(sensors)) {
      // A long name continues in rows with otherwise empty cells.
      if (sensors.trim() && !used.trim() && !load.trim() && current.model !== null)
        current.model = parseText(`${wrapped(current.model, rows)}${sensors.slice(NAME_INDENT)}`)
      rows++
      continue
    }
    if (/ERR!/.test(line) && current.health === 'ok') Object.assign(current, SENSOR_ERROR)
    const memory = /(\d+\s*[KMG]?i?B)\s*\/\s*(\d+\s*[KMG]?i?B)/i.exec(used)
    current.memoryUsed = parseBytes(memory?.[1])
    current.memoryTotal = parseBytes(memory?.[2])
    current.temperature = parseNumber(/\b(\d+)\s*C\b/.exec(sensors)?.[1])
    current.power = parseNumber(/(\d+(?:\.\d+)?)\s*W\s*\//.exec(sensors)?.[1])
    current.utilization = parseNumber(/^\s*(\d+)\s*%/.exec(load)?.[1])
    current = null
  }
  return devices
}
