import { parseNvidiaCsv } from './nvidia-csv.ts'
import type { Accelerator } from './schema.ts'
import { parseSmiQuery, parseSmiQueryDevice } from './smi-query.ts'
import { parseSmiBanner, parseSmiTable } from './smi-table.ts'
import { firstLine, parseIdentity, parseText, splitLines, summarizePeers } from './text.ts'
import { createAccelerator, mergeDevices, removeDuplicates, type VendorResult, vendorResult } from './vendor.ts'

/** Texts of ppu-smi, or of the `nvidia-smi` wrapper in PPU images. */
export interface TheadTexts {
  /** `-q`. */
  query?: string
  /** Calls of `--query-ppu=… --format=csv` or `--query-gpu=…`. */
  csv?: (string | { fields: string[]; text: string })[]
  /** `-L`. */
  list?: string
  /** Call without arguments. */
  table?: string
  /** `topo -m`. */
  topology?: string
}

const toThead = (device: Accelerator): Accelerator => ({ ...device, deviceType: 'thead_npu', vendor: 'thead' })

/** Parses ppu-smi 1.x. UUIDs begin with `GPU-` or `PPU-`, so the prefix does not identify the vendor. */
export function parseThead(texts: TheadTexts): VendorResult {
  const { head, devices: blocks } = parseSmiQuery(texts.query ?? '')
  const query = blocks.map((block, index) => ({ ...parseSmiQueryDevice(block, 'thead_npu', 'thead'), index }))
  const csv = (texts.csv ?? []).map((call) =>
    typeof call === 'string' ? parseNvidiaCsv(call) : parseNvidiaCsv(call.text, call.fields),
  )
  const table = parseSmiTable(texts.table ?? '', 'thead_npu', 'thead')
  const lists = [query, ...csv.map((rows) => rows.accelerators.map(toThead)), table, parseList(texts.list ?? '')]
  const joined = lists.reduce((merged, more) => (merged.length ? mergeDevices(merged, more) : more), [])
  const { accelerators, warnings } = removeDuplicates(addTopology(joined, texts.topology ?? ''), 'ppu-smi')

  const banner = parseSmiBanner(texts.table ?? '')
  const driver = parseText(head.get('driver version')) ?? parseText(banner.labels.driver)
  const hggc = parseText(head.get('hggc version')) ?? parseText(banner.labels.hggc)
  const sdk = parseText(head.get('sdk version'))
  for (const device of accelerators) {
    device.driverVersion ??= driver
    device.toolkitVersion ??= hggc
    // `-L` of older releases prints only `PPU`; prefer a longer name.
    if (device.model === 'PPU') device.model = joined.find((other) => other.model && other.model !== 'PPU')?.model ?? 'PPU'
  }
  const toolkits: Record<string, string> = {}
  if (driver) toolkits['thead driver'] = driver
  if (hggc) toolkits.hggc = hggc
  if (sdk) toolkits['sail sdk'] = sdk
  const all = [
    texts.query,
    texts.table,
    texts.list,
    ...(texts.csv ?? []).map((call) => (typeof call === 'string' ? call : call.text)),
  ].join('\n')
  return vendorResult({
    accelerators,
    version: banner.version ?? driver ?? null,
    failure: accelerators.length
      ? null
      : (firstLine(all, /alixpu|fail|error|invalid|cannot|not found|no devices/i) ?? firstLine(all)),
    warnings: [...warnings, ...csv.flatMap((rows) => rows.warnings.map((warning) => warning.replace('nvidia-smi', 'ppu-smi')))],
    toolkits,
  })
}

/** Parses `-L`: `PPU 0: PPU (UUID: …)`, MIG devices as `    MIG g1.c1.i1, Device 0 (UUID: …)`. */
function parseList(text: string): Accelerator[] {
  const devices: Accelerator[] = []
  for (const line of splitLines(text)) {
    const ppu = /^\s*[GP]PU (\d+): ([^(]*(?:\([^(]*)?)\(UUID: ([^)]*)\)/.exec(line)
    if (ppu)
      devices.push(
        createAccelerator('thead_npu', 'thead', {
          index: Number(ppu[1]),
          model: parseText(ppu[2]),
          uuid: parseIdentity(ppu[3]),
          health: 'ok',
        }),
      )
    const mig = /^\s+MIG ([^\s,]+),?\s+Device\s+(\d+):?\s*\((?:UUID: )?([^)]*)\)/.exec(line)
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

/** Adds links and NUMA nodes from `topo -m`, which is aligned with spaces: X, ICN2, SYS per device, then CPU and NUMA affinity. */
function addTopology(devices: Accelerator[], text: string): Accelerator[] {
  const rows = splitLines(text).map((line) => line.trim().split(/\s+/))
  const header = rows.find((row) => /^[GP]PU0$/.test(row[0] ?? '') && /^[GP]PU1$/.test(row[1] ?? ''))
  if (!header) return devices
  const width = header.filter((cell) => /^[GP]PU\d+$/.test(cell)).length
  return devices.map((device) => {
    const row = rows.find(
      (cells) => cells !== header && /^[GP]PU\d+$/.test(cells[0] ?? '') && cells[0]?.slice(3) === String(device.index),
    )
    if (!row) return device
    const links = row.slice(1, 1 + width).filter((cell) => cell !== 'X' && parseText(cell))
    const numa = /NUMA/.test(header.join(' ')) ? row[width + 2] : undefined
    return {
      ...device,
      interconnect: device.interconnect ?? summarizePeers(links),
      numaNode: device.numaNode ?? (numa && /^\d+$/.test(numa) ? Number(numa) : null),
    }
  })
}
