import { XMLParser } from 'fast-xml-parser'
import { nvidiaCsv } from './nvidia-csv.ts'
import type { Accelerator, Partition } from './schema.ts'
import { deviceHealth, migMode, smiQuery, smiQueryDevice } from './smi-query.ts'
import { smiBanner, smiTable } from './smi-table.ts'
import {
  bytes,
  count,
  enabled,
  firstLine,
  identity,
  known,
  linesOf,
  list,
  number,
  pciAddress,
  peers,
  plain,
  record,
} from './text.ts'
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
      /\b(PPU-SMI|PPUSMI LOG|HGGC Version)\b|^[ \t]*PPU \d+:|GPU \d+: PPU|<product_name>\s*PPU|(?:^|,)[ \t]*PPU-?[A-Z]*\d+/im.test(
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

/** The leading release of `610.57.04 [Deprecated; …]`, null for `Deprecated, see …`. */
const release = (cell: unknown): string | null => /^\d[\d.]*/.exec(known(cell) ?? '')?.[0] ?? null

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

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  processEntities: false,
  parseTagValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
})

/** A place in parsed XML: text of `at(gpu, 'pci', 'pci_bus_id')`, undefined where there is none. */
const at = (node: unknown, ...path: string[]): unknown => path.reduce((inner: unknown, key) => record(inner)[key], node)

function fromXml(text: string): {
  accelerators: Accelerator[]
  driver: string | null
  cuda: string | null
  attached: number | null
} {
  const body = plain(text)
  const log = body.indexOf('<nvidia_smi_log')
  if (log < 0) return { accelerators: [], driver: null, cuda: null, attached: null }
  const first = body.indexOf('<gpu ', log)
  const head = body.slice(log, first < 0 ? undefined : first)
  const tag = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(head)?.[1]
  const driver = release(tag('kmd_version')) ?? release(tag('driver_version'))
  const cuda = release(tag('cuda_umd_version')) ?? release(tag('cuda_version'))
  // Block by block: an output that was cut short keeps its complete devices, and no document type is ever parsed.
  const blocks =
    first < 0
      ? []
      : body
          .slice(first)
          .split(/(?=<gpu )/)
          .slice(0, 256)
  const accelerators = blocks.map((block, index) => fromGpu(block, index)).filter((device) => device !== null)
  return { accelerators, driver, cuda, attached: count(tag('attached_gpus')) }
}

function fromGpu(block: string, index: number): Accelerator | null {
  let gpu: unknown
  try {
    gpu = record(parser.parse(block.replace(/<\/nvidia_smi_log>[\s\S]*$/, ''))).gpu
  } catch {
    return null
  }
  gpu = Array.isArray(gpu) ? gpu[0] : gpu
  const errors = (scope: string, corrected: boolean) => {
    const kind = corrected ? /(?<!un)correctable/ : /uncorrectable/
    const counts = Object.entries(record(at(gpu, 'ecc_errors', scope))).filter(([key]) => kind.test(key))
    const values = counts.map(([, value]) => count(value)).filter((value) => value !== null)
    // Until v10 the counts were nested: volatile/single_bit/total.
    return values.length
      ? values.reduce((a, b) => a + b, 0)
      : count(at(gpu, 'ecc_errors', scope, corrected ? 'single_bit' : 'double_bit', 'total'))
  }
  const eccErrors = {
    correctedVolatile: errors('volatile', true),
    uncorrectedVolatile: errors('volatile', false),
    correctedAggregate: errors('aggregate', true),
    uncorrectedAggregate: errors('aggregate', false),
  }
  const power = (...readings: string[]) =>
    readings
      .flatMap((part) => ['power_draw', 'instant_power_draw', 'average_power_draw'].map((name) => number(at(gpu, part, name))))
      .find((value) => value !== null) ?? null
  const uuid = identity(at(gpu, 'uuid'))
  const fabric = known(at(gpu, 'fabric', 'state'))
  const device = accelerator('nvidia_gpu', 'nvidia', {
    model: known(at(gpu, 'product_name')),
    index,
    uuid,
    serial: identity(at(gpu, 'serial')),
    slot: known(at(gpu, 'gpu_module_id')) ?? known(at(gpu, 'platformInfo', 'module_id')),
    pciAddress: pciAddress(at(gpu, 'pci', 'pci_bus_id')) ?? pciAddress(at(gpu, '@id')),
    memoryTotal: bytes(at(gpu, 'fb_memory_usage', 'total')),
    memoryUsed: bytes(at(gpu, 'fb_memory_usage', 'used')),
    firmwareVersion: known(at(gpu, 'vbios_version')),
    computeCapability: known(at(gpu, 'compute_capability')) ?? known(at(gpu, 'compute_cap')),
    partitionMode: migMode(at(gpu, 'mig_mode', 'current_mig')),
    partitions: migDevices(at(gpu, 'mig_devices'), uuid),
    eccMode: enabled(at(gpu, 'ecc_mode', 'current_ecc')),
    eccErrors: Object.values(eccErrors).some((value) => value !== null) ? eccErrors : null,
    temperature: number(at(gpu, 'temperature', 'gpu_temp')),
    power: power('gpu_power_readings', 'power_readings'),
    utilisation: number(at(gpu, 'utilization', 'gpu_util')),
    ...deviceHealth({
      lost: /GPU is lost/i.test(block),
      recovery: at(gpu, 'gpu_recovery_action'),
      resetRequired: at(gpu, 'gpu_reset_status', 'reset_required'),
      remapFailed: at(gpu, 'remapped_rows', 'remapped_row_failure'),
      remapPending: at(gpu, 'remapped_rows', 'remapped_row_pending'),
      retirementPending: at(gpu, 'retired_pages', 'pending_retirement'),
      unrepairable: at(gpu, 'ecc_errors', 'unrepairable_memory'),
      uncorrected: eccErrors.uncorrectedVolatile,
      fabric,
    }),
  })
  return device.model || device.uuid || device.pciAddress ? device : null
}

function migDevices(node: unknown, parentUuid: string | null): Partition[] {
  return list(record(node).mig_device).map((child) => ({
    kind: 'mig',
    uuid: identity(at(child, 'uuid')),
    profile: known(at(child, 'name')),
    index: count(at(child, 'index')),
    parentUuid,
    memoryTotal: bytes(at(child, 'fb_memory_usage', 'total')),
  }))
}

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
