import { parseNvidiaCsv } from './nvidia-csv.ts'
import { parseNvidiaXml } from './nvidia-xml.ts'
import type { Accelerator } from './schema.ts'
import { parseSmiQuery, parseSmiQueryDevice } from './smi-query.ts'
import { parseSmiBanner, parseSmiTable } from './smi-table.ts'
import {
  firstLine,
  parseCount,
  parseIdentity,
  parsePciAddress,
  parseRelease,
  parseText,
  splitLines,
  summarizePeers,
} from './text.ts'
import { createAccelerator, mergeDevices, removeDuplicates, type VendorResult, vendorResult } from './vendor.ts'

/** Texts of nvidia-smi, all optional and from the same point in time. */
export interface NvidiaTexts {
  /** `-q -x`, nvsmi_device_v10 to v13. */
  xml?: string
  /** `-q`. */
  query?: string
  /** `-L`. */
  list?: string
  /** `--query-gpu=… --format=csv[,noheader][,nounits]`, any number of such calls. */
  csv?: (string | { fields: string[]; text: string })[]
  /** `topo -m`. */
  topology?: string
  /** The table printed without arguments. */
  table?: string
  /** `--version`. */
  version?: string
}

/** Reads nvidia-smi of every driver since 450. Devices of T-Head behind a tool of the same name are left to `parseThead`. */
export function parseNvidia(texts: NvidiaTexts): VendorResult {
  const csv = (texts.csv ?? []).map((call) => (typeof call === 'string' ? { text: call, fields: undefined } : call))
  const all = [texts.xml, texts.query, texts.list, texts.table, texts.version, ...csv.map((call) => call.text)].map(
    (text) => text ?? '',
  )
  if (
    all.some((text) =>
      /\b(PPU-SMI|PPUSMI LOG|HGGC Version|alixpu)\b|^[ \t]*PPU \d+:|GPU \d+: PPU|<product_name>\s*PPU|(?:^|,)[ \t]*PPU-?[A-Z]*\d+/im.test(
        text,
      ),
    )
  )
    return vendorResult({ foreign: 'T-Head PPU-SMI' })

  const xml = parseNvidiaXml(texts.xml ?? '')
  const query = parseQuery(texts.query ?? '')
  const named = parseList(texts.list ?? '')
  const rows = csv.map((call) => parseNvidiaCsv(call.text, call.fields))
  const table = parseSmiTable(texts.table ?? '', 'nvidia_gpu', 'nvidia')
  const sources = [xml.accelerators, query.accelerators, ...rows.map((row) => row.accelerators), named, table]
  const merged = sources.reduce((first, more) => (first.length ? mergeDevices(first, more) : more), [])
  const devices = addTopology(numberDevices(merged), texts.topology ?? '')
  const { accelerators, warnings } = removeDuplicates(devices, 'nvidia-smi')

  const banner = parseSmiBanner(texts.table ?? '')
  const driver =
    xml.driver ??
    query.driver ??
    parseRelease(banner.labels.kmd) ??
    parseRelease(banner.labels.driver) ??
    parseVersion(texts.version ?? '').driver
  const cuda =
    xml.cuda ??
    query.cuda ??
    parseRelease(banner.labels['cuda umd']) ??
    parseRelease(banner.labels.cuda) ??
    parseVersion(texts.version ?? '').cuda
  for (const device of accelerators) {
    device.driverVersion ??= driver
    device.toolkitVersion ??= cuda
    device.memoryUnified ||= device.memoryTotal === null && /\bGB10\b|\bOrin\b|\bThor\b/.test(device.model ?? '')
  }
  const expected = xml.attached
  if (expected !== null && expected !== xml.accelerators.length)
    warnings.push(`nvidia-smi: reports ${expected} attached GPUs but describes ${xml.accelerators.length}`)
  const toolkits: Record<string, string> = {}
  if (driver) toolkits['nvidia driver'] = driver
  if (cuda) toolkits['cuda (driver)'] = cuda
  return vendorResult({
    accelerators,
    version: driver ?? accelerators.find((device) => device.driverVersion)?.driverVersion ?? banner.version ?? null,
    failure: accelerators.length ? null : xml.attached === 0 ? 'no GPUs found' : failureReason(all.join('\n')),
    warnings: [
      ...warnings,
      ...rows.flatMap((row) => row.warnings),
      ...lostDeviceLines(all.join('\n')).map((line) => `nvidia-smi: ${line.trim()}`),
    ],
    lost: lostDevices(all.join('\n')),
    toolkits,
  })
}

/** Numbers devices without an index in their order. The index of the tool takes precedence: it skips the numbers of lost devices. */
function numberDevices(devices: Accelerator[]): Accelerator[] {
  const used = new Set(devices.map(({ index }) => index))
  let next = 0
  return devices.map((device) => {
    if (device.index !== null) return device
    while (used.has(next)) next++
    return { ...device, index: next++ }
  })
}

/** Finds the failure message. nvidia-smi prints all failures to stdout. */
function failureReason(text: string): string | null {
  const library = /NVML library version:\s*(\S+)/.exec(text)?.[1]
  const message = firstLine(
    text,
    /NVML|couldn't communicate|No devices|Unable to determine|not a valid field|error|denied|not found|cannot|failed/i,
  )
  return message ? message + (library && !message.includes(library) ? ` (NVML library ${library})` : '') : firstLine(text)
}

const LOST_DEVICE = /Unable to determine the device handle for GPU\s*(?:\d+:\s*)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/i

/** Lines such as `Unable to determine the device handle for GPU0000:0B:00.0: GPU is lost`, each once. */
const lostDeviceLines = (text: string): string[] =>
  [...new Set(splitLines(text).filter((line) => /Unable to determine the device handle/i.test(line)))].slice(0, 16)

/** Devices that the tool reports as lost, with its message. */
const lostDevices = (text: string): Map<string, string> =>
  new Map(
    lostDeviceLines(text).flatMap((line): [string, string][] => {
      const address = parsePciAddress(LOST_DEVICE.exec(line)?.[1])
      return address ? [[address, line.trim().slice(0, 300)]] : []
    }),
  )

function parseQuery(text: string): { accelerators: Accelerator[]; driver: string | null; cuda: string | null } {
  const { head, devices } = parseSmiQuery(text)
  return {
    accelerators: devices.map((block) => parseSmiQueryDevice(block, 'nvidia_gpu', 'nvidia')),
    driver: parseRelease(head.get('kmd version')) ?? parseRelease(head.get('driver version')),
    cuda: parseRelease(head.get('cuda umd version')) ?? parseRelease(head.get('cuda version')),
  }
}

/** Parses `--version`. From driver 610 on, the old labels contain `Deprecated, see "KMD version" instead`. */
function parseVersion(text: string): { driver: string | null; cuda: string | null } {
  const get = (label: RegExp) =>
    parseRelease(
      splitLines(text)
        .map((line) => label.exec(line)?.[1])
        .find((value) => parseRelease(value)),
    )
  return {
    driver: get(/^KMD version\s*:\s*(.*)/i) ?? get(/^DRIVER version\s*:\s*(.*)/i),
    cuda: get(/^CUDA UMD version\s*:\s*(.*)/i) ?? get(/^CUDA version\s*:\s*(.*)/i),
  }
}

/** Parses `-L`: devices with their MIG devices. The XML lacks the UUIDs of MIG devices. */
function parseList(text: string): Accelerator[] {
  const devices: Accelerator[] = []
  for (const line of splitLines(text)) {
    const gpu = /^\s*GPU (\d+): ([^(]*(?:\([^(]*)?)\(UUID: ([^)]*)\)/.exec(line)
    if (gpu)
      devices.push(
        createAccelerator('nvidia_gpu', 'nvidia', {
          index: Number(gpu[1]),
          model: parseText(gpu[2]),
          uuid: parseIdentity(gpu[3]),
          health: 'ok',
        }),
      )
    const mig = /^\s+MIG (\S+)\s+Device\s+(\d+): \((?:UUID: )?([^)]*)\)/.exec(line)
    const parent = devices.at(-1)
    if (mig && parent)
      parent.partitions.push({
        kind: 'mig',
        uuid: parseIdentity(mig[3]),
        profile: mig[1] ?? null,
        index: Number(mig[2]),
        parentUuid: parent.uuid,
        memoryTotal: null,
      })
  }
  return devices
}

/** Adds links to peers and NUMA nodes from `topo -m`. */
function addTopology(devices: Accelerator[], text: string): Accelerator[] {
  const lines = splitLines(text)
  const header = lines
    .find((line) => /^\s*GPU0\b/.test(line))
    ?.split('\t')
    .map((cell) => cell.trim())
  if (!header) return devices
  const columns = header.filter((cell) => cell !== '')
  const numaColumn = columns.indexOf('NUMA Affinity')
  return devices.map((device) => {
    const row = lines
      .find((line) => line.startsWith(`GPU${device.index}\t`))
      ?.split('\t')
      .slice(1)
      .map((cell) => cell.trim())
    if (!row) return device
    const links = row.filter((cell, column) => /^GPU\d+$/.test(columns[column] ?? '') && cell !== 'X' && parseText(cell))
    const numa = numaColumn < 0 ? null : parseCount(row[numaColumn])
    return { ...device, interconnect: device.interconnect ?? summarizePeers(links), numaNode: device.numaNode ?? numa }
  })
}
