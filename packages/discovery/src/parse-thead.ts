import { nvidiaCsv } from './nvidia-csv.ts'
import type { Accelerator } from './schema.ts'
import { smiQuery, smiQueryDevice } from './smi-query.ts'
import { smiBanner, smiTable } from './smi-table.ts'
import { firstLine, identity, known, linesOf, peers } from './text.ts'
import { accelerator, join, reading, type VendorReading, withoutRepeats } from './vendor.ts'

/** Texts of ppu-smi, or of the `nvidia-smi` that PPU images put in front of it. */
export interface TheadTexts {
  /** `-q`. */
  query?: string
  /** `--query-ppu=… --format=csv`; also under the names of `--query-gpu`. */
  csv?: (string | { fields: string[]; text: string })[]
  /** `-L`. */
  list?: string
  /** The table printed without arguments. */
  table?: string
  /** `topo -m`. */
  topology?: string
}

const asThead = (device: Accelerator): Accelerator => ({ ...device, deviceType: 'thead_npu', vendor: 'thead' })

/** Reads ppu-smi 1.x. uuids begin with `GPU-` or `PPU-`, so nothing is concluded from their prefix. */
export function parseThead(texts: TheadTexts): VendorReading {
  const { head, devices: blocks } = smiQuery(texts.query ?? '')
  const query = blocks.map((block, index) => ({ ...smiQueryDevice(block, 'thead_npu', 'thead'), index }))
  const csv = (texts.csv ?? []).map((call) => (typeof call === 'string' ? nvidiaCsv(call) : nvidiaCsv(call.text, call.fields)))
  const table = smiTable(texts.table ?? '', 'thead_npu', 'thead')
  const lists = [query, ...csv.map((rows) => rows.accelerators.map(asThead)), table, fromList(texts.list ?? '')]
  const joined = lists.reduce((sofar, more) => (sofar.length ? join(sofar, more) : more), [])
  const { accelerators, warnings } = withoutRepeats(withTopology(joined, texts.topology ?? ''), 'ppu-smi')

  const banner = smiBanner(texts.table ?? '')
  const driver = known(head.get('driver version')) ?? known(banner.labels.driver)
  const hggc = known(head.get('hggc version')) ?? known(banner.labels.hggc)
  const sdk = known(head.get('sdk version'))
  for (const device of accelerators) {
    device.driverVersion ??= driver
    device.toolkitVersion ??= hggc
    // `-L` of older releases prints the bare `PPU`: anything longer says more.
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
  return reading({
    accelerators,
    version: banner.version ?? driver ?? null,
    failure: accelerators.length
      ? null
      : (firstLine(all, /alixpu|fail|error|invalid|cannot|not found|no devices/i) ?? firstLine(all)),
    warnings: [...warnings, ...csv.flatMap((rows) => rows.warnings.map((warning) => warning.replace('nvidia-smi', 'ppu-smi')))],
    toolkits,
  })
}

/** Reads `-L`: `PPU 0: PPU (UUID: …)`, MIG devices as `    MIG g1.c1.i1, Device 0 (UUID: …)`. */
function fromList(text: string): Accelerator[] {
  const devices: Accelerator[] = []
  for (const line of linesOf(text)) {
    const ppu = /^\s*[GP]PU (\d+): ([^(]*(?:\([^(]*)?)\(UUID: ([^)]*)\)/.exec(line)
    if (ppu)
      devices.push(
        accelerator('thead_npu', 'thead', { index: Number(ppu[1]), model: known(ppu[2]), uuid: identity(ppu[3]), health: 'ok' }),
      )
    const mig = /^\s+MIG ([^\s,]+),?\s+Device\s+(\d+):?\s*\((?:UUID: )?([^)]*)\)/.exec(line)
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

/** Reads `topo -m`, which is aligned with blanks here: X, ICN2, SYS per device, then CPU and NUMA affinity. */
function withTopology(devices: Accelerator[], text: string): Accelerator[] {
  const rows = linesOf(text).map((line) => line.trim().split(/\s+/))
  const header = rows.find((row) => /^[GP]PU0$/.test(row[0] ?? '') && /^[GP]PU1$/.test(row[1] ?? ''))
  if (!header) return devices
  const width = header.filter((cell) => /^[GP]PU\d+$/.test(cell)).length
  return devices.map((device) => {
    const row = rows.find(
      (cells) => cells !== header && /^[GP]PU\d+$/.test(cells[0] ?? '') && cells[0]?.slice(3) === String(device.index),
    )
    if (!row) return device
    const links = row.slice(1, 1 + width).filter((cell) => cell !== 'X' && known(cell))
    const numa = /NUMA/.test(header.join(' ')) ? row[width + 2] : undefined
    return {
      ...device,
      interconnect: device.interconnect ?? peers(links),
      numaNode: device.numaNode ?? (numa && /^\d+$/.test(numa) ? Number(numa) : null),
    }
  })
}
