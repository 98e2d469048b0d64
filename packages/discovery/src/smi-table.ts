import type { Accelerator, DeviceType } from './schema.ts'
import { bytes, known, linesOf, number, pciAddress } from './text.ts'
import { accelerator } from './vendor.ts'

/** Reads the banner of nvidia-smi and its likenesses: `| PPU-SMI 1.28   Driver Version: 2.1.0-dbda51  HGGC Version: 13.0 |`. */
export function smiBanner(text: string): { tool: string | null; version: string | null; labels: Record<string, string> } {
  const line = linesOf(text).find((candidate) => /\b[A-Z]+-SMI\b.*\bVersion\s*:/.test(candidate)) ?? ''
  const labels: Record<string, string> = {}
  for (const [, label = '', value = ''] of line.matchAll(/([A-Za-z][A-Za-z-]*(?: UMD)?(?: [Vv]ersion)?)\s*:\s*([^\s|]+)/g))
    if (known(value)) labels[label.replace(/ version$/i, '').toLowerCase()] = value
  const [, tool = null, version = null] = /\b([A-Z]+-SMI)\b\s*(\d[\w.]*)?/.exec(line) ?? []
  return { tool, version, labels }
}

/**
 * Reads the device table that nvidia-smi prints without arguments, and the tables made in its likeness (ppu-smi, Kunlun's
 * xpu-smi): a row with number, name and PCI address, then a row with temperature, power, memory and load. Widths vary, so only
 * `|` and blanks divide. Ends at the tables of MIG devices and processes, whose rows look alike.
 */
export function smiTable(text: string, deviceType: DeviceType, vendor: string): Accelerator[] {
  const devices: Accelerator[] = []
  let current: Accelerator | null = null
  for (const line of linesOf(text)) {
    if (/\b(MIG devices|Processes)\s*:/.test(line)) break
    const head = /^\|\s*(\d{1,4})\s+(\S.*?)\s*\|\s*([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])\s*([^|]*)\|\s*([^|]*)\|/i.exec(
      line,
    )
    if (head) {
      const [, index, name = '', address, , ecc = ''] = head
      const model = name.replace(/\s+(On|Off|N\/A|Enabled|Disabled)\s*$/i, '').trim()
      current = accelerator(deviceType, vendor, { index: Number(index), model: known(model), pciAddress: pciAddress(address) })
      // A number of uncorrected errors means that ECC counts; N/A or Off that it does not.
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
      if (/GPU is lost|ERR!/.test(line)) Object.assign(current, { health: 'lost', healthReason: 'GPU is lost' })
      devices.push(current)
      continue
    }
    const [sensors = '', used = '', load = ''] = line.split('|').slice(1)
    // The second row is the one with power in use and its limit; the first cell can hold the fan's percentage, too.
    if (!current || !/\s\/\s/.test(sensors)) continue
    const memory = /(\d+\s*[KMG]?i?B)\s*\/\s*(\d+\s*[KMG]?i?B)/i.exec(used)
    current.memoryUsed = bytes(memory?.[1])
    current.memoryTotal = bytes(memory?.[2])
    current.temperature = number(/\b(\d+)\s*C\b/.exec(sensors)?.[1])
    current.power = number(/(\d+(?:\.\d+)?)\s*W\s*\//.exec(sensors)?.[1])
    current.utilisation = number(/^\s*(\d+)\s*%/.exec(load)?.[1])
    current = null
  }
  return devices
}
