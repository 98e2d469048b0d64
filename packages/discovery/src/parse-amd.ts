import { parseRocm } from './parse-rocm.ts'
import type { Accelerator } from './schema.ts'
import {
  asArray,
  asRecord,
  firstLine,
  parseBytes,
  parseCount,
  parseEnabled,
  parseIdentity,
  parseJson,
  parseNumber,
  parsePciAddress,
  parseText,
  stripControl,
  summarizePeers,
} from './text.ts'
import { createAccelerator, mergeDevices, removeDuplicates, type VendorResult, vendorResult } from './vendor.ts'

/** Texts of amd-smi and rocm-smi with `--json`. */
export interface AmdTexts {
  static?: string
  list?: string
  metric?: string
  topology?: string
  /** `amd-smi version`. */
  version?: string
  /** Calls of rocm-smi with different flags. */
  rocm?: string[]
}

type Fields = Record<string, unknown>

/** Parses all known layouts: a bare list (6.x), `{gpu_data: […]}` (7.x), `{gpus: […]}`, one object. */
function parseGpus(text: string | undefined): Fields[] {
  const value = parseJson(text ?? '')
  const holder = asRecord(value)
  const inner = holder.gpu_data ?? holder.gpus ?? holder.gpu_list
  const found = Array.isArray(value) ? asArray(value) : asArray(inner ?? ('gpu' in holder ? value : undefined))
  return found.map(asRecord).filter((gpu) => 'gpu' in gpu || 'asic' in gpu || 'bdf' in gpu || 'bus' in gpu)
}

/** Parses `{value, unit}`, `"196592 MB"` or a bare number of MiB. */
function parseMemory(cell: unknown): number | null {
  const { value, unit } = asRecord(cell)
  if (value === undefined) return parseBytes(cell, 'MB')
  return parseBytes(`${parseText(value) ?? ''} ${parseText(unit) ?? 'MB'}`)
}

const parseScalar = (cell: unknown): number | null => parseNumber('value' in asRecord(cell) ? asRecord(cell).value : cell)
const getSection = (gpu: Fields | undefined, name: string): Fields => asRecord(gpu?.[name])

/** Parses amd-smi of ROCm 6 and 7, and rocm-smi as fallback. Partitions of one card become one device. */
export function parseAmd(texts: AmdTexts): VendorResult {
  const rocm = parseRocm(texts.rocm ?? [])
  const stat = parseGpus(texts.static)
  const listed = parseGpus(texts.list)
  const metric = parseGpus(texts.metric)
  const numbers = [...new Set([...stat, ...listed, ...metric].map((gpu) => parseCount(gpu.gpu)))].filter(
    (index) => index !== null,
  )
  const pick = (from: Fields[], index: number) => from.find((gpu) => parseCount(gpu.gpu) === index)
  const logical = numbers.map((index) => parseDevice(index, pick(stat, index), pick(listed, index), pick(metric, index)))
  const cards = groupByCard(logical.map((one) => ({ ...one, device: addTopology(one.device, texts.topology) })))
  const amd = mergeDevices(
    cards,
    groupByCard(rocm.accelerators.filter((one) => one.deviceType === 'amd_gpu').map(toLogicalDevice)),
  )
  const others = rocm.accelerators.filter((one) => one.deviceType !== 'amd_gpu')
  const { accelerators, warnings } = removeDuplicates([...amd, ...others], 'amd-smi')

  const versionText = stripControl(texts.version ?? '')
  const tool = /AMDSMI Tool:\s*([\w.+-]+)/.exec(versionText)?.[1] ?? null
  const release =
    parseText(/ROCm version:\s*([\w.+-]+)/.exec(versionText)?.[1]) ??
    parseText(asRecord(asArray(parseJson(versionText))[0]).rocm_version)
  const driver = parseText(/amdgpu version:\s*([\w.+-]+)/.exec(versionText)?.[1])
  for (const one of accelerators) {
    if (one.deviceType !== 'amd_gpu') continue
    one.toolkitVersion ??= release
    one.driverVersion ??= driver
  }
  const toolkits: Record<string, string> = {}
  if (release) toolkits.rocm = release
  const all = [texts.static, texts.list, texts.metric].filter((text) => text).join('\n')
  return vendorResult({
    accelerators,
    version: tool,
    failure: accelerators.length
      ? null
      : (firstLine(all, /error|fail|unable|not |cannot|exception/i) ?? firstLine(all) ?? rocm.failure),
    foreign: amd.length ? null : rocm.foreign,
    warnings: [...warnings, ...rocm.warnings],
    toolkits,
  })
}

/** Parses a model name; null for what tools print for unknown boards: a hexadecimal ID, or the name of the vendor. */
const parseModel = (cell: unknown): string | null => {
  const text = parseText(cell)
  return text && !/^0x[0-9a-f]+$|^Advanced Micro Devices\b[^0-9]*$/i.test(text) ? text : null
}

interface LogicalDevice {
  device: Accelerator
  /** Key that partitions of one card share. */
  card: string
  compute: string | null
}

function parseDevice(
  index: number,
  stat: Fields | undefined,
  listed: Fields | undefined,
  metric: Fields | undefined,
): LogicalDevice {
  const [asic, board, vram, driver, partition] = ['asic', 'board', 'vram', 'driver', 'partition'].map((name) =>
    getSection(stat, name),
  )
  const use = getSection(metric, 'mem_usage')
  const ecc = getSection(metric, 'ecc')
  const temperature = getSection(metric, 'temperature')
  const power = getSection(metric, 'power')
  const serial = parseIdentity(board?.product_serial)
  const address =
    parsePciAddress(getSection(stat, 'bus').bdf) ??
    parsePciAddress(listed?.bdf) ??
    parsePciAddress(stat?.bdf) ??
    parsePciAddress(metric?.bdf)
  const compute = parseText(partition?.accelerator_partition) ?? parseText(partition?.compute_partition)
  const memoryMode = parseText(partition?.memory_partition)
  // An in-tree amdgpu has no version; the tool prints the kernel banner instead.
  const version =
    [driver?.version, driver?.driver_version, driver?.VERSION, stat?.driver]
      .map(parseText)
      .find((text) => text && /^\d[\w.+-]*$/.test(text)) ?? null
  const uncorrected = parseCount(ecc.total_uncorrectable_count)
  // `{UMC: 'ENABLED'}` or `[{block: 'UMC', status: 'ENABLED'}]`.
  const states = getSection(stat, 'ras').ecc_block_state
  const blocks = (Array.isArray(states) ? asArray(states) : Object.values(asRecord(states))).map((state) =>
    parseEnabled(asRecord(state).status ?? state),
  )
  const unified = parseText(vram?.type)?.toLowerCase() === 'unified'
  return {
    card: parseIdentity(asic?.asic_serial)?.toLowerCase() ?? address?.replace(/\.\d$/, '') ?? `gpu ${index}`,
    compute,
    device: createAccelerator('amd_gpu', 'amd', {
      model: parseModel(asic?.market_name) ?? parseModel(board?.product_name) ?? parseModel(asic?.name),
      index,
      uuid: parseIdentity(listed?.uuid) ?? parseIdentity(stat?.uuid) ?? parseIdentity(asic?.uuid),
      serial: serial ?? parseIdentity(asic?.asic_serial),
      slot: parseText(asic?.oam_id),
      pciAddress: address,
      memoryTotal:
        [vram?.size, vram?.vram_size, vram?.size_mb, vram?.vram_size_mb, use.total_vram]
          .map(parseMemory)
          .find((size) => size !== null) ?? null,
      memoryUsed: parseMemory(use.used_vram),
      memoryUnified: unified,
      driverVersion: version,
      firmwareVersion:
        parseText(getSection(stat, 'vbios').version) ??
        parseText(getSection(stat, 'vbios').part_number) ??
        parseText(getSection(stat, 'ifwi').version),
      computeCapability: parseText(asic?.target_graphics_version),
      partitionMode: [compute, memoryMode].filter((mode) => mode !== null).join('/') || null,
      numaNode: parseCount(getSection(stat, 'numa').node),
      eccMode: blocks.includes('enabled') ? 'enabled' : blocks.includes('disabled') ? 'disabled' : null,
      eccErrors:
        parseCount(ecc.total_correctable_count) === null && uncorrected === null
          ? null
          : {
              correctedVolatile: parseCount(ecc.total_correctable_count),
              uncorrectedVolatile: uncorrected,
              correctedAggregate: null,
              uncorrectedAggregate: null,
            },
      temperature: parseScalar(temperature.edge) ?? parseScalar(temperature.hotspot) ?? parseScalar(temperature.mem),
      power:
        parseScalar(power.socket_power) ?? parseScalar(power.current_socket_power) ?? parseScalar(power.average_socket_power),
      utilization: parseScalar(getSection(metric, 'usage').gfx_activity),
      health: uncorrected ? 'warning' : 'ok',
      healthReason: uncorrected ? `${uncorrected} uncorrected memory errors since the driver was loaded` : null,
    }),
  }
}

/** rocm-smi reports no board; partitions share the PCI slot. */
const toLogicalDevice = (device: Accelerator): LogicalDevice => ({
  device,
  card: device.pciAddress?.replace(/\.\d$/, '') ?? device.uuid ?? `gpu ${device.index}`,
  compute: /^[SDTQC]PX/i.exec(device.partitionMode ?? '')?.[0] ?? null,
})

/**
 * Groups logical devices by card. In CPX mode a MI300X has eight, at one PCI address or at its functions .0 to .7. Each reports the
 * memory of the whole card; the first represents the card. The two dies of a MI250 are separate devices, not partitions.
 */
function groupByCard(logical: LogicalDevice[]): Accelerator[] {
  const cards = new Map<string, LogicalDevice[]>()
  for (const one of logical) {
    const split = one.compute !== null && one.compute.toUpperCase() !== 'SPX'
    const key = split ? one.card : `${one.card} ${one.device.pciAddress ?? one.device.index}`
    cards.set(key, [...(cards.get(key) ?? []), one])
  }
  // Other partitions often report N/A as their mode; they belong to the card in the same PCI slot.
  const merged = new Map<string, LogicalDevice[]>()
  for (const [key, members] of cards) {
    const place = members[0]?.device.pciAddress?.replace(/\.\d$/, '')
    const host = [...merged].find(
      ([, others]) =>
        others[0]?.compute && others[0].compute !== 'SPX' && others[0].device.pciAddress?.replace(/\.\d$/, '') === place && place,
    )
    if (host) host[1].push(...members)
    else merged.set(key, [...members])
  }
  return [...merged.values()].flatMap((members) => {
    const [first] = members
    if (!first) return []
    if (members.length === 1 || !first.compute || first.compute.toUpperCase() === 'SPX')
      return members.map((member) => member.device)
    const { device: primary, compute } = first
    const share = primary.memoryTotal === null ? null : Math.floor(primary.memoryTotal / members.length)
    const partitions = members.map(({ device: part }, index) => ({
      kind: 'xcp' as const,
      uuid: part.uuid,
      profile: compute,
      index,
      parentUuid: primary.uuid,
      memoryTotal: share,
    }))
    return [{ ...primary, partitions }]
  })
}

/** Adds links to peers from `topology --json`. */
function addTopology(device: Accelerator, text: string | undefined): Accelerator {
  const own = parseGpus(text).find((gpu) => parseCount(gpu.gpu) === device.index)
  const links = asArray(own?.links)
    .map((link) => parseText(asRecord(link).link_type))
    .filter((type) => type !== null && type !== 'SELF')
  return { ...device, interconnect: summarizePeers(links.filter((type) => type !== null)) }
}
