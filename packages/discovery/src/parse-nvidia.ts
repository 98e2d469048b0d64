import { nvidiaCsv } from './nvidia-csv.ts'
import { fromXml } from './nvidia-xml.ts'
import type { Accelerator } from './schema.ts'
import { smiQuery, smiQueryDevice } from './smi-query.ts'
import { smiBanner, smiTable } from './smi-table.ts'
import { count, firstLine, identity, known, linesOf, peers, release } from './text.ts'
import { accelerator, join, reading, type VendorReading, withoutRepeats } from './vendor.ts'

/** Texts of nvidia-smi, each as printed: none is required, all are believed to come from one moment. */
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
export function parseNvidia(texts: NvidiaTexts): VendorReading {
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
    return reading({ foreign: 'T-Head PPU-SMI' })

  const xml = fromXml(texts.xml ?? '')
  const query = fromQuery(texts.query ?? '')
  const named = fromList(texts.list ?? '')
  const rows = csv.map((call) => nvidiaCsv(call.text, call.fields))
  const table = smiTable(texts.table ?? '', 'nvidia_gpu', 'nvidia')
  const unlike = [xml.accelerators, query.accelerators, ...rows.map((row) => row.accelerators), named, table]
  let devices = unlike.reduce((sofar, more) => (sofar.length ? join(sofar, more) : more), [])
  devices = withTopology(devices, texts.topology ?? '')
  const { accelerators, warnings } = withoutRepeats(devices, 'nvidia-smi')

  const banner = smiBanner(texts.table ?? '')
  const driver =
    xml.driver ??
    query.driver ??
    release(banner.labels.kmd) ??
    release(banner.labels.driver) ??
    fromVersion(texts.version ?? '').driver
  const cuda =
    xml.cuda ??
    query.cuda ??
    release(banner.labels['cuda umd']) ??
    release(banner.labels.cuda) ??
    fromVersion(texts.version ?? '').cuda
  for (const device of accelerators) {
    device.driverVersion ??= driver
    device.toolkitVersion ??= cuda
    device.memoryUnified ||= device.memoryTotal === null && /\bGB10\b|\bOrin\b|\bThor\b/.test(device.model ?? '')
  }
  const expected = xml.attached
  if (expected !== null && expected !== xml.accelerators.length)
    warnings.push(`nvidia-smi: ${expected} attached GPUs, ${xml.accelerators.length} described`)
  const toolkits: Record<string, string> = {}
  if (driver) toolkits['nvidia driver'] = driver
  if (cuda) toolkits['cuda (driver)'] = cuda
  return reading({
    accelerators,
    version: driver ?? accelerators.find((device) => device.driverVersion)?.driverVersion ?? banner.version ?? null,
    failure: accelerators.length ? null : xml.attached === 0 ? 'it answers, but sees no GPU' : failureOf(all.join('\n')),
    warnings: [...warnings, ...rows.flatMap((row) => row.warnings), ...lostLines(all.join('\n'))],
    toolkits,
  })
}

/** The sentence that says why there are no devices. Every failure of nvidia-smi is printed to stdout. */
function failureOf(text: string): string | null {
  const library = /NVML library version:\s*(\S+)/.exec(text)?.[1]
  const said = firstLine(
    text,
    /NVML|couldn't communicate|No devices|Unable to determine|not a valid field|error|denied|not found|cannot|failed/i,
  )
  return said ? said + (library && !said.includes(library) ? ` (NVML library ${library})` : '') : firstLine(text)
}

const lostLines = (text: string): string[] =>
  [...new Set(linesOf(text).filter((line) => /Unable to determine the device handle/i.test(line)))]
    .slice(0, 16)
    .map((line) => `nvidia-smi: ${line.trim()}`)

function fromQuery(text: string): { accelerators: Accelerator[]; driver: string | null; cuda: string | null } {
  const { head, devices } = smiQuery(text)
  return {
    accelerators: devices.map((block, index) => ({ ...smiQueryDevice(block, 'nvidia_gpu', 'nvidia'), index })),
    driver: release(head.get('kmd version')) ?? release(head.get('driver version')),
    cuda: release(head.get('cuda umd version')) ?? release(head.get('cuda version')),
  }
}

/** Reads `--version`; from driver 610 on the old labels say `Deprecated, see "KMD version" instead`. */
function fromVersion(text: string): { driver: string | null; cuda: string | null } {
  const get = (label: RegExp) =>
    release(
      linesOf(text)
        .map((line) => label.exec(line)?.[1])
        .find((value) => release(value)),
    )
  return {
    driver: get(/^KMD version\s*:\s*(.*)/i) ?? get(/^DRIVER version\s*:\s*(.*)/i),
    cuda: get(/^CUDA UMD version\s*:\s*(.*)/i) ?? get(/^CUDA version\s*:\s*(.*)/i),
  }
}

/** Reads `-L`: devices, and below each its MIG devices with the uuids that the XML lacks. */
function fromList(text: string): Accelerator[] {
  const devices: Accelerator[] = []
  for (const line of linesOf(text)) {
    const gpu = /^\s*GPU (\d+): ([^(]*(?:\([^(]*)?)\(UUID: ([^)]*)\)/.exec(line)
    if (gpu)
      devices.push(
        accelerator('nvidia_gpu', 'nvidia', {
          index: Number(gpu[1]),
          model: known(gpu[2]),
          uuid: identity(gpu[3]),
          health: 'ok',
        }),
      )
    const mig = /^\s+MIG (\S+)\s+Device\s+(\d+): \((?:UUID: )?([^)]*)\)/.exec(line)
    const parent = devices.at(-1)
    if (mig && parent)
      parent.partitions.push({
        kind: 'mig',
        uuid: identity(mig[3]),
        profile: mig[1] ?? null,
        index: Number(mig[2]),
        parentUuid: parent.uuid,
        memoryTotal: null,
      })
  }
  return devices
}

/** Reads `topo -m` and tells for each GPU how it reaches the others, and its NUMA node. */
function withTopology(devices: Accelerator[], text: string): Accelerator[] {
  const lines = linesOf(text)
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
    const links = row.filter((cell, column) => /^GPU\d+$/.test(columns[column] ?? '') && cell !== 'X' && known(cell))
    const numa = numaColumn < 0 ? null : count(row[numaColumn])
    return { ...device, interconnect: device.interconnect ?? peers(links), numaNode: device.numaNode ?? numa }
  })
}
