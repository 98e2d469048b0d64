import { parseNpuTable } from './npu-table.ts'
import type { Accelerator, Partition } from './schema.ts'
import {
  firstLine,
  parseCount,
  parseIdentity,
  parseNumber,
  parsePciAddress,
  parseText,
  splitLines,
  stripControl,
  summarizePeers,
} from './text.ts'
import { createAccelerator, removeDuplicates, type VendorResult, vendorResult } from './vendor.ts'

/** Texts of npu-smi, which has no JSON output. */
export interface HuaweiTexts {
  /** `info`. */
  info?: string
  /** `info -l`. */
  list?: string
  /** `info -m`. */
  mapping?: string
  /** Calls of `info -t board -i N [-c C]`. */
  boards?: string[]
  /** Calls of `info -t ecc|health|usages|memory|common -i N`; the card ID comes from the text or from `card`. */
  details?: (string | { card: string; text: string })[]
  /** `info -t info-vnpu -i N -c C`. */
  vnpus?: { card: string; chip: string; text: string }[]
  /** `info -t topo`. */
  topology?: string
}

/** Parses npu-smi 20 to 26: 310, 310P, 910A, 910B, A3 (910C) and 950. Each chip is one accelerator, as in the driver. */
export function parseHuawei(texts: HuaweiTexts): VendorResult {
  const info = stripControl(texts.info ?? '')
  const version = /npu-smi\s+v?(\d[\w.]*)/.exec(info)?.[1] ?? null
  const cards = parseBlocks(texts.list ?? '', 'NPU ID')
  const chips = parseMapping(texts.mapping ?? '')
  const boards = (texts.boards ?? []).flatMap((text) => parseBlocks(text, 'NPU ID'))
  let devices = parseNpuTable(info)
  if (!devices.length)
    devices = chips.map((chip) =>
      createAccelerator('huawei_npu', 'huawei', { model: chip.name, slot: `${chip.card}/${chip.chip}`, health: 'unknown' }),
    )

  devices = devices.map((device, order) => {
    const [card, chip] = device.slot?.split('/') ?? []
    const mapped = chips.find((one) => one.card === card && one.chip === chip)
    const row = cards.find((block) => block['NPU ID'] === card)
    const board = boards.find((block) => block['NPU ID'] === card && block['Chip ID'] === chip)
    const whole = boards.find((block) => block['NPU ID'] === card && !('Chip ID' in block))
    const merged = { ...row, ...whole, ...board }
    return {
      ...device,
      index: mapped?.logic ?? device.index ?? order,
      model: modelName(device, merged, mapped?.name ?? null),
      uuid: parseIdentity(merged['VDie ID']) ?? parseIdentity(merged['Die ID']),
      serial: parseIdentity(whole?.['Serial Number']) ?? parseIdentity(row?.['Serial Number']),
      pciAddress: device.pciAddress ?? parsePciAddress(board?.['PCIe Bus Info']) ?? parsePciAddress(whole?.['PCIe Bus Info']),
      driverVersion: parseText(whole?.['Software Version']) ?? version,
      firmwareVersion: parseText(merged['Firmware Version']),
    }
  })
  devices = addDetails(devices, texts.details ?? [])
  devices = addVnpus(addTopology(devices, texts.topology ?? ''), texts.vnpus ?? [])
  const { accelerators, warnings } = removeDuplicates(devices, 'npu-smi')
  const total = parseCount(
    splitLines(texts.list ?? '')
      .map((line) => /Total Count\s*:\s*(\d+)/.exec(line)?.[1])
      .find((cell) => cell),
  )
  const describedCards = new Set(accelerators.map((device) => device.slot?.split('/')[0])).size
  if (total !== null && accelerators.length && total > describedCards)
    warnings.push(`npu-smi: reports ${total} cards but describes ${describedCards}`)
  return vendorResult({
    accelerators,
    version,
    failure: accelerators.length ? null : failureReason([info, texts.list, texts.mapping].join('\n')),
    warnings,
    toolkits: version ? { 'ascend driver': version } : {},
  })
}

/** Finds the failure message. -8020 means that another container uses the devices. */
function failureReason(text: string): string | null {
  // The log library of the driver complains first, whatever the cause is.
  const own = text.replace(/^.*DrvMngGetConsoleLogLevel.*$/gm, '')
  const message =
    firstLine(own, /ret is -?\d/i) ??
    firstLine(own, /fail|error|ret is|invalid|denied|cannot|not found/i) ??
    firstLine(own) ??
    firstLine(text)
  return message && /-8020\b/.test(message) ? `busy: ${message}` : message
}

/**
 * Normalizes `910B3`, `Ascend 910B3` and chip type + name to `Ascend910B3`. A3 boards report the part as `NPU Name : 9392`.
 * The mapping can have a code name without a number, such as `MiniD`; then the name of the table is used.
 */
function modelName(device: Accelerator, board: Record<string, string>, mapped: string | null): string | null {
  const names = [parseText(board['Chip Name']), mapped, device.model]
  const chip = names.find((name) => /\d/.test(name ?? '')) ?? names.find((name) => name !== null) ?? null
  const part = parseText(board['NPU Name'])
  const name = (chip ?? '').replace(/^Ascend\s*/i, '')
  if (!name) return device.model
  return part && /^\d+$/.test(part) ? `Ascend${name}_${part}` : `Ascend${name}`
}

/** Parses blocks of `key : value` lines; each begins with the key `first`. */
function parseBlocks(text: string, first: string): Record<string, string>[] {
  const found: Record<string, string>[] = []
  for (const line of splitLines(text)) {
    const [, key, value] = /^\s*(\S.*?)\s*:\s*(.*?)\s*$/.exec(line) ?? []
    if (key === undefined || value === undefined) continue
    if (key === first) found.push({})
    const block = found.at(-1)
    if (block && !(key in block)) block[key] = value
  }
  return found
}

interface Chip {
  card: string
  chip: string
  logic: number | null
  name: string | null
}

/** Parses `info -m` by its header. The name is the last column and can contain spaces. MCU rows have no logic ID and are skipped. */
function parseMapping(text: string): Chip[] {
  const lines = splitLines(text).map((line) => line.trim())
  const header = lines.find((line) => /^NPU ID\b/.test(line) && /Chip Name/.test(line))
  const columns = header?.split(/\s{2,}|(?<=ID)\s|(?<=Name)\s/).filter((cell) => cell) ?? []
  const chips: Chip[] = []
  for (const line of lines) {
    const cells = line.split(/\s+/)
    if (!/^\d+$/.test(cells[0] ?? '') || columns.length < 3) continue
    const cell = (name: string) => (columns.includes(name) ? (cells[columns.indexOf(name)] ?? null) : null)
    const name = cells.slice(columns.indexOf('Chip Name')).join(' ')
    const logic = parseCount(cell('Chip Logic ID')) ?? parseCount(cell('Chip Phy-ID'))
    if (/^mcu$/i.test(name) || logic === null) continue
    chips.push({ card: cells[0] ?? '', chip: cell('Chip ID') ?? '0', logic, name: parseText(name) })
  }
  return chips
}

/** Adds the values of the `-t` calls. */
function addDetails(devices: Accelerator[], texts: (string | { card: string; text: string })[]): Accelerator[] {
  const all = devices.map((device) => ({ ...device }))
  for (const entry of texts) {
    const entryCard = typeof entry === 'string' ? null : entry.card
    for (const { card, chip, values } of parseChipBlocks(typeof entry === 'string' ? entry : entry.text)) {
      const target = all.find((device) => device.slot === `${card ?? entryCard}/${chip ?? '0'}`)
      if (target) applyDetails(target, values)
    }
  }
  return all
}

/**
 * Parses the values per chip of a `-t` call. `-t common` prints the chip ID before its values and ends with the MCU, which repeats the card's
 * values. `-t usages`, `memory` and `ecc` print the chip ID AFTER its values. The first key determines the order.
 */
function parseChipBlocks(text: string): { card: string | null; chip: string | null; values: Record<string, string> }[] {
  const entries = splitLines(text)
    .map((line) => /^\s*(\S.*?)\s*:\s*(.*?)\s*$/.exec(line)?.slice(1))
    .filter((entry) => entry !== undefined)
  const card = entries.find(([key]) => key === 'NPU ID')?.[1] ?? null
  const body = entries.filter(([key]) => key !== 'NPU ID' && key !== 'Chip Count')
  const leads = body[0]?.[0] === 'Chip ID'
  const found: { card: string | null; chip: string | null; values: Record<string, string> }[] = []
  let open = { card, chip: null as string | null, values: {} as Record<string, string> }
  for (const [key = '', value = ''] of body) {
    if (/^mcu$/i.test(value)) break
    if (key !== 'Chip ID') open.values[key] ??= value
    else if (leads) {
      open = { card, chip: value, values: {} }
      found.push(open)
    } else {
      found.push({ ...open, chip: value })
      open = { card, chip: null, values: {} }
    }
  }
  return leads || found.length ? found : [open]
}

function applyDetails(device: Accelerator, values: Record<string, string>): void {
  const add = (...names: string[]) => {
    const found = names.map((name) => parseCount(values[name])).filter((value) => value !== null)
    return found.length ? found.reduce((a, b) => a + b, 0) : null
  }
  const ecc = {
    correctedVolatile: add('HBM Single Bit Error Count', 'DDR Single Bit Error Count'),
    uncorrectedVolatile: add('HBM Double Bit Error Count', 'DDR Double Bit Error Count'),
    correctedAggregate: add('HBM Single Bit Aggregate Total Err Cnt', 'DDR Single Bit Aggregate Total Err Cnt'),
    uncorrectedAggregate: add('HBM Double Bit Aggregate Total Err Cnt', 'DDR Double Bit Aggregate Total Err Cnt'),
  }
  if (Object.values(ecc).some((value) => value !== null)) device.eccErrors ??= ecc
  device.temperature ??= parseNumber(values['Temperature(C)'] ?? values['NPU Temperature (C)'])
  device.power ??= parseNumber(values['NPU Real-time Power(W)'] ?? values['Power Dissipation(W)'])
  device.utilization ??= parseNumber(values['Aicore Usage Rate(%)'])
  const size = parseCount(values['HBM Capacity(MB)']) || parseCount(values['DDR Capacity(MB)'])
  if (size && device.memoryTotal === null) device.memoryTotal = size * 1024 ** 2
  const error = parseText(values['Error Information'])
  if (error && device.health !== 'ok') device.healthReason = error
}

/** Parses the table of `info -t info-vnpu`: rows `| 100 | 0 | 000000000000 | 0 | vir05_1c_16g |`. */
function addVnpus(devices: Accelerator[], texts: { card: string; chip: string; text: string }[]): Accelerator[] {
  return devices.map((device) => {
    const partitions: Partition[] = texts
      .filter(({ card, chip }) => device.slot === `${card}/${chip}`)
      .flatMap(({ text }) => splitLines(text).map((line) => /^\|\s*(\d+)\s*\|.*\|\s*(vir\w+)\s*\|\s*$/.exec(line)))
      .filter((row) => row !== null)
      .map((row) => {
        const profile = row[2] ?? null
        const gigabytes = /_(\d+)g/i.exec(profile ?? '')?.[1]
        return {
          kind: 'vnpu',
          uuid: null,
          profile,
          index: parseCount(row[1]),
          parentUuid: device.uuid,
          memoryTotal: gigabytes ? Number(gigabytes) * 1024 ** 3 : null,
        }
      })
    return partitions.length ? { ...device, partitions } : device
  })
}

/** Parses the matrix of `info -t topo`: rows named `NPU0` by card, or `Phy-ID0` on boards with two chips per card. */
function addTopology(devices: Accelerator[], text: string): Accelerator[] {
  const rows = splitLines(text).map((line) => line.trim().split(/\s+/))
  return devices.map((device, order) => {
    const [card] = device.slot?.split('/') ?? []
    const names = [`NPU${card}`, `Phy-ID${device.index ?? order}`]
    const row = rows.find(
      (cells) => names.includes(cells[0] ?? '') && /^(X|HCCS\w*|SIO|PIX|PXB|PHB|SYS|NA)$/.test(cells[1] ?? ''),
    )
    const links = row?.slice(1).filter((cell) => /^(HCCS\w*|SIO|PIX|PXB|PHB|SYS)$/.test(cell)) ?? []
    return { ...device, interconnect: summarizePeers(links) }
  })
}
