import { parseNvidiaCsv } from './nvidia-csv.ts'
import { parseNvidiaXml } from './nvidia-xml.ts'
import type { Accelerator } from './schema.ts'
import { parseSmiQuery, parseSmiQueryDevice } from './smi-query.ts'
import { parseSmiBanner, parseSmiTable } from './smi-table.ts'
import { firstLine, parseCount, parseIdentity, parseRelease, parseText, splitLines, summarizePeers } from './text.ts'
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
  let devices = sources.reduce((merged, more) => (merged.length ? mergeDevices(merged, more) : more), [])
  devices = addTopology(devices, texts.topology ?? '')
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
    warnings: [...warnings, ...rows.flatMap((row) => row.warnings), ...lostDeviceWarnings(all.join('\n'))],
    toolkits,
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

const lostDeviceWarnings = (text: string): string[] =>
  [...new Set(splitLines(text).filter((line) => /Unable to determine the device handle/i.test(line)))]
    .slice(0, 16)
    .map((line) => `nvidia-smi: ${line.trim()}`)

function parseQuery(text: string): { accelerators: Accelerator[]; driver: string | null; cuda: string | null } {
  const { head, devices } = parseSmiQuery(text)
  return {
    accelerators: devices.map((block, index) => ({ ...parseSmiQueryDevice(block, 'nvidia_gpu', 'nvidia'), index })),
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
