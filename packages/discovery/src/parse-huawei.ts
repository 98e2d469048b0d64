import { npuTable } from './npu-table.ts'
import type { Accelerator, Partition } from './schema.ts'
import { count, firstLine, identity, known, linesOf, number, pciAddress, peers, plain } from './text.ts'
import { accelerator, reading, type VendorReading, withoutRepeats } from './vendor.ts'

/** Texts of npu-smi. It has no JSON in any version. */
export interface HuaweiTexts {
  /** `info`: the box table. */
  info?: string
  /** `info -l`. */
  list?: string
  /** `info -m`. */
  mapping?: string
  /** `info -t board -i N [-c C]`, any number. */
  boards?: string[]
  /** `info -t ecc|health|usages|memory|common -i N`, any number; the card's number comes from the text or from `card`. */
  details?: (string | { card: string; text: string })[]
  /** `info -t info-vnpu -i N -c C`. */
  vnpus?: { card: string; chip: string; text: string }[]
  /** `info -t topo`. */
  topology?: string
}

/** Reads npu-smi 20 to 26: 310, 310P, 910A, 910B, A3 (910C) and 950. One accelerator per chip, as the driver counts them. */
export function parseHuawei(texts: HuaweiTexts): VendorReading {
  const info = plain(texts.info ?? '')
  const version = /npu-smi\s+v?(\d[\w.]*)/.exec(info)?.[1] ?? null
  const cards = blocks(texts.list ?? '', 'NPU ID')
  const chips = mapping(texts.mapping ?? '')
  const boards = (texts.boards ?? []).flatMap((text) => blocks(text, 'NPU ID'))
  let devices = npuTable(info)
  if (!devices.length)
    devices = chips.map((chip) =>
      accelerator('huawei_npu', 'huawei', { model: chip.name, slot: `${chip.card}/${chip.chip}`, health: 'unknown' }),
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
      model: model(device, merged, mapped?.name ?? null),
      uuid: identity(merged['VDie ID']) ?? identity(merged['Die ID']),
      serial: identity(whole?.['Serial Number']) ?? identity(row?.['Serial Number']),
      pciAddress: device.pciAddress ?? pciAddress(board?.['PCIe Bus Info']) ?? pciAddress(whole?.['PCIe Bus Info']),
      driverVersion: known(whole?.['Software Version']) ?? version,
      firmwareVersion: known(merged['Firmware Version']),
    }
  })
  devices = withDetails(devices, texts.details ?? [])
  devices = withVnpus(withTopology(devices, texts.topology ?? ''), texts.vnpus ?? [])
  const { accelerators, warnings } = withoutRepeats(devices, 'npu-smi')
  const total = count(
    linesOf(texts.list ?? '')
      .map((line) => /Total Count\s*:\s*(\d+)/.exec(line)?.[1])
      .find((cell) => cell),
  )
  const told = new Set(accelerators.map((device) => device.slot?.split('/')[0])).size
  if (total !== null && accelerators.length && total > told) warnings.push(`npu-smi: ${total} cards, ${told} described`)
  return reading({
    accelerators,
    version,
    failure: accelerators.length ? null : failureOf([info, texts.list, texts.mapping].join('\n')),
    warnings,
    toolkits: version ? { 'ascend driver': version } : {},
  })
}

/** Why there are no chips. -8020 is another container that holds them: they exist, and are busy. */
function failureOf(text: string): string | null {
  const said = firstLine(text, /fail|error|ret is|invalid|denied|cannot|not found/i) ?? firstLine(text)
  return said && /-8020\b/.test(said) ? `busy: ${said}` : said
}

/** `910B3`, `Ascend 910B3` and chip type + name become `Ascend910B3`; A3 boards tell the part as `NPU Name : 9392`. */
function model(device: Accelerator, board: Record<string, string>, mapped: string | null): string | null {
  const chip = known(board['Chip Name']) ?? mapped ?? device.model
  const part = known(board['NPU Name'])
  const name = (chip ?? '').replace(/^Ascend\s*/i, '')
  if (!name) return device.model
  return part && /^\d+$/.test(part) ? `Ascend${name}_${part}` : `Ascend${name}`
}

/** Blocks of `key : value` lines, each begun by the line of the key `first`. */
function blocks(text: string, first: string): Record<string, string>[] {
  const found: Record<string, string>[] = []
  for (const line of linesOf(text)) {
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

/** Reads `info -m` by the words of its header; the name is last and may hold a blank. Rows of the MCU have no logic id. */
function mapping(text: string): Chip[] {
  const lines = linesOf(text).map((line) => line.trim())
  const header = lines.find((line) => /^NPU ID\b/.test(line) && /Chip Name/.test(line))
  const columns = header?.split(/\s{2,}|(?<=ID)\s|(?<=Name)\s/).filter((cell) => cell) ?? []
  const chips: Chip[] = []
  for (const line of lines) {
    const cells = line.split(/\s+/)
    if (!/^\d+$/.test(cells[0] ?? '') || columns.length < 3) continue
    const cell = (name: string) => (columns.includes(name) ? (cells[columns.indexOf(name)] ?? null) : null)
    const name = cells.slice(columns.indexOf('Chip Name')).join(' ')
    const logic = count(cell('Chip Logic ID')) ?? count(cell('Chip Phy-ID'))
    if (/^mcu$/i.test(name) || logic === null) continue
    chips.push({ card: cells[0] ?? '', chip: cell('Chip ID') ?? '0', logic, name: known(name) })
  }
  return chips
}

/** Adds what the `-t` calls tell. */
function withDetails(devices: Accelerator[], texts: (string | { card: string; text: string })[]): Accelerator[] {
  const all = devices.map((device) => ({ ...device }))
  for (const entry of texts) {
    const given = typeof entry === 'string' ? null : entry.card
    for (const { card, chip, values } of chipBlocks(typeof entry === 'string' ? entry : entry.text)) {
      const target = all.find((device) => device.slot === `${card ?? given}/${chip ?? '0'}`)
      if (target) detail(target, values)
    }
  }
  return all
}

/**
 * The values of each chip in the text of a `-t` call. `-t common` names a chip before its values and ends with the MCU's, which repeat
 * the card's; `-t usages`, `memory` and `ecc` name it AFTER them. What follows the head tells which.
 */
function chipBlocks(text: string): { card: string | null; chip: string | null; values: Record<string, string> }[] {
  const entries = linesOf(text)
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

function detail(device: Accelerator, values: Record<string, string>): void {
  const add = (...names: string[]) => {
    const found = names.map((name) => count(values[name])).filter((value) => value !== null)
    return found.length ? found.reduce((a, b) => a + b, 0) : null
  }
  const ecc = {
    correctedVolatile: add('HBM Single Bit Error Count', 'DDR Single Bit Error Count'),
    uncorrectedVolatile: add('HBM Double Bit Error Count', 'DDR Double Bit Error Count'),
    correctedAggregate: add('HBM Single Bit Aggregate Total Err Cnt', 'DDR Single Bit Aggregate Total Err Cnt'),
    uncorrectedAggregate: add('HBM Double Bit Aggregate Total Err Cnt', 'DDR Double Bit Aggregate Total Err Cnt'),
  }
  if (Object.values(ecc).some((value) => value !== null)) device.eccErrors ??= ecc
  device.temperature ??= number(values['Temperature(C)'] ?? values['NPU Temperature (C)'])
  device.power ??= number(values['NPU Real-time Power(W)'] ?? values['Power Dissipation(W)'])
  device.utilisation ??= number(values['Aicore Usage Rate(%)'])
  const size = count(values['HBM Capacity(MB)']) || count(values['DDR Capacity(MB)'])
  if (size && device.memoryTotal === null) device.memoryTotal = size * 1024 ** 2
  const error = known(values['Error Information'])
  if (error && device.health !== 'ok') device.healthReason = error
}

/** Reads the table of `info -t info-vnpu`: rows `| 100 | 0 | 000000000000 | 0 | vir05_1c_16g |`. */
function withVnpus(devices: Accelerator[], texts: { card: string; chip: string; text: string }[]): Accelerator[] {
  return devices.map((device) => {
    const partitions: Partition[] = texts
      .filter(({ card, chip }) => device.slot === `${card}/${chip}`)
      .flatMap(({ text }) => linesOf(text).map((line) => /^\|\s*(\d+)\s*\|.*\|\s*(vir\w+)\s*\|\s*$/.exec(line)))
      .filter((row) => row !== null)
      .map((row) => {
        const profile = row[2] ?? null
        const gigabytes = /_(\d+)g/i.exec(profile ?? '')?.[1]
        return {
          kind: 'vnpu',
          uuid: null,
          profile,
          index: count(row[1]),
          parentUuid: device.uuid,
          memoryTotal: gigabytes ? Number(gigabytes) * 1024 ** 3 : null,
        }
      })
    return partitions.length ? { ...device, partitions } : device
  })
}

/** Reads the matrix of `info -t topo`: rows `NPU0  X  HCCS …`, named by card, or `Phy-ID0` on boards with two chips per card. */
function withTopology(devices: Accelerator[], text: string): Accelerator[] {
  const rows = linesOf(text).map((line) => line.trim().split(/\s+/))
  return devices.map((device, order) => {
    const [card] = device.slot?.split('/') ?? []
    const names = [`NPU${card}`, `Phy-ID${device.index ?? order}`]
    const row = rows.find(
      (cells) => names.includes(cells[0] ?? '') && /^(X|HCCS\w*|SIO|PIX|PXB|PHB|SYS|NA)$/.test(cells[1] ?? ''),
    )
    const links = row?.slice(1).filter((cell) => /^(HCCS\w*|SIO|PIX|PXB|PHB|SYS)$/.test(cell)) ?? []
    return { ...device, interconnect: peers(links) }
  })
}
