import { parseRocm } from './parse-rocm.ts'
import type { Accelerator } from './schema.ts'
import {
  bytes,
  count,
  enabled,
  firstLine,
  identity,
  json,
  known,
  list,
  number,
  pciAddress,
  peers,
  plain,
  record,
} from './text.ts'
import { accelerator, join, reading, type VendorReading, withoutRepeats } from './vendor.ts'

/** Texts of amd-smi and rocm-smi with `--json`. */
export interface AmdTexts {
  static?: string
  list?: string
  metric?: string
  topology?: string
  /** `amd-smi version`. */
  version?: string
  /** rocm-smi, any number of calls with different flags. */
  rocm?: string[]
}

type Fields = Record<string, unknown>

/** The devices of any shape: a bare list (6.x), `{gpu_data: […]}` (7.x), `{gpus: […]}`, one object. */
function gpus(text: string | undefined): Fields[] {
  const value = json(text ?? '')
  const holder = record(value)
  const inner = holder.gpu_data ?? holder.gpus ?? holder.gpu_list
  const found = Array.isArray(value) ? list(value) : list(inner ?? ('gpu' in holder ? value : undefined))
  return found.map(record).filter((gpu) => 'gpu' in gpu || 'asic' in gpu || 'bdf' in gpu || 'bus' in gpu)
}

/** A value with its unit: `{value, unit}`, `"196592 MB"`, or a bare number of MiB. */
function memory(cell: unknown): number | null {
  const { value, unit } = record(cell)
  if (value === undefined) return bytes(cell, 'MB')
  return bytes(`${known(value) ?? ''} ${known(unit) ?? 'MB'}`)
}

const scalar = (cell: unknown): number | null => number('value' in record(cell) ? record(cell).value : cell)
const section = (gpu: Fields | undefined, name: string): Fields => record(gpu?.[name])

/** Reads amd-smi of ROCm 6 and 7, and rocm-smi where amd-smi has nothing. Partitions of one card become one device. */
export function parseAmd(texts: AmdTexts): VendorReading {
  const rocm = parseRocm(texts.rocm ?? [])
  const stat = gpus(texts.static)
  const listed = gpus(texts.list)
  const metric = gpus(texts.metric)
  const numbers = [...new Set([...stat, ...listed, ...metric].map((gpu) => count(gpu.gpu)))].filter((index) => index !== null)
  const pick = (from: Fields[], index: number) => from.find((gpu) => count(gpu.gpu) === index)
  const logical = numbers.map((index) => device(index, pick(stat, index), pick(listed, index), pick(metric, index)))
  const cards = byCard(logical.map((one) => ({ ...one, device: withTopology(one.device, texts.topology) })))
  const amd = join(cards, byCard(rocm.accelerators.filter((one) => one.deviceType === 'amd_gpu').map(fromRocm)))
  const others = rocm.accelerators.filter((one) => one.deviceType !== 'amd_gpu')
  const { accelerators, warnings } = withoutRepeats([...amd, ...others], 'amd-smi')

  const told = plain(texts.version ?? '')
  const tool = /AMDSMI Tool:\s*([\w.+-]+)/.exec(told)?.[1] ?? null
  const release = known(/ROCm version:\s*([\w.+-]+)/.exec(told)?.[1]) ?? known(record(list(json(told))[0]).rocm_version)
  const driver = known(/amdgpu version:\s*([\w.+-]+)/.exec(told)?.[1])
  for (const one of accelerators) {
    if (one.deviceType !== 'amd_gpu') continue
    one.toolkitVersion ??= release
    one.driverVersion ??= driver
  }
  const toolkits: Record<string, string> = {}
  if (release) toolkits.rocm = release
  const all = [texts.static, texts.list, texts.metric].filter((text) => text).join('\n')
  return reading({
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

/** A name; releases that do not know the board yet print its id in its place. */
const model = (cell: unknown): string | null => {
  const text = known(cell)
  return text && !/^0x[0-9a-f]+$/i.test(text) ? text : null
}

interface Logical {
  device: Accelerator
  /** What the partitions of one card share. */
  card: string
  compute: string | null
}

function device(index: number, stat: Fields | undefined, listed: Fields | undefined, metric: Fields | undefined): Logical {
  const [asic, board, vram, driver, partition] = ['asic', 'board', 'vram', 'driver', 'partition'].map((name) =>
    section(stat, name),
  )
  const use = section(metric, 'mem_usage')
  const ecc = section(metric, 'ecc')
  const temperature = section(metric, 'temperature')
  const power = section(metric, 'power')
  const serial = identity(board?.product_serial)
  const address =
    pciAddress(section(stat, 'bus').bdf) ?? pciAddress(listed?.bdf) ?? pciAddress(stat?.bdf) ?? pciAddress(metric?.bdf)
  const compute = known(partition?.accelerator_partition) ?? known(partition?.compute_partition)
  const memoryMode = known(partition?.memory_partition)
  // An in-tree amdgpu has no version; the tool then prints the kernel's banner in its place.
  const version =
    [driver?.version, driver?.driver_version, driver?.VERSION, stat?.driver]
      .map(known)
      .find((text) => text && /^\d[\w.+-]*$/.test(text)) ?? null
  const uncorrected = count(ecc.total_uncorrectable_count)
  // `{UMC: 'ENABLED'}` or `[{block: 'UMC', status: 'ENABLED'}]`.
  const states = section(stat, 'ras').ecc_block_state
  const blocks = (Array.isArray(states) ? list(states) : Object.values(record(states))).map((state) =>
    enabled(record(state).status ?? state),
  )
  const unified = known(vram?.type)?.toLowerCase() === 'unified'
  return {
    card: identity(asic?.asic_serial)?.toLowerCase() ?? address?.replace(/\.\d$/, '') ?? `gpu ${index}`,
    compute,
    device: accelerator('amd_gpu', 'amd', {
      model: model(asic?.market_name) ?? known(board?.product_name) ?? known(asic?.name),
      index,
      uuid: identity(listed?.uuid) ?? identity(stat?.uuid) ?? identity(asic?.uuid),
      serial: serial ?? identity(asic?.asic_serial),
      slot: known(asic?.oam_id),
      pciAddress: address,
      memoryTotal:
        [vram?.size, vram?.vram_size, vram?.size_mb, vram?.vram_size_mb, use.total_vram]
          .map(memory)
          .find((size) => size !== null) ?? null,
      memoryUsed: memory(use.used_vram),
      memoryUnified: unified,
      driverVersion: version,
      firmwareVersion:
        known(section(stat, 'vbios').version) ??
        known(section(stat, 'vbios').part_number) ??
        known(section(stat, 'ifwi').version),
      computeCapability: known(asic?.target_graphics_version),
      partitionMode: [compute, memoryMode].filter((mode) => mode !== null).join('/') || null,
      numaNode: count(section(stat, 'numa').node),
      eccMode: blocks.includes('enabled') ? 'enabled' : blocks.includes('disabled') ? 'disabled' : null,
      eccErrors:
        count(ecc.total_correctable_count) === null && uncorrected === null
          ? null
          : {
              correctedVolatile: count(ecc.total_correctable_count),
              uncorrectedVolatile: uncorrected,
              correctedAggregate: null,
              uncorrectedAggregate: null,
            },
      temperature: scalar(temperature.edge) ?? scalar(temperature.hotspot) ?? scalar(temperature.mem),
      power: scalar(power.socket_power) ?? scalar(power.current_socket_power) ?? scalar(power.average_socket_power),
      utilisation: scalar(section(metric, 'usage').gfx_activity),
      health: uncorrected ? 'warning' : 'ok',
      healthReason: uncorrected ? `${uncorrected} uncorrected memory errors since the driver was loaded` : null,
    }),
  }
}

/** rocm-smi tells no board: partitions share the place on the bus. */
const fromRocm = (device: Accelerator): Logical => ({
  device,
  card: device.pciAddress?.replace(/\.\d$/, '') ?? device.uuid ?? `gpu ${device.index}`,
  compute: /^[SDTQC]PX/i.exec(device.partitionMode ?? '')?.[0] ?? null,
})

/**
 * Joins the logical devices of one card. In CPX a MI300X shows eight, each with the memory of the whole card, at the same
 * PCI address or at functions .0 to .7 of it; what the first tells stands for the card. The two dies of a MI250 are two devices:
 * they are not partitions.
 */
function byCard(logical: Logical[]): Accelerator[] {
  const cards = new Map<string, Logical[]>()
  for (const one of logical) {
    const split = one.compute !== null && one.compute.toUpperCase() !== 'SPX'
    const key = split ? one.card : `${one.card} ${one.device.pciAddress ?? one.device.index}`
    cards.set(key, [...(cards.get(key) ?? []), one])
  }
  // Non-primary partitions often say N/A for their mode too: they belong to the card at the same place.
  const merged = new Map<string, Logical[]>()
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

/** Reads `topology --json`: how this device reaches its peers. */
function withTopology(device: Accelerator, text: string | undefined): Accelerator {
  const own = gpus(text).find((gpu) => count(gpu.gpu) === device.index)
  const links = list(own?.links)
    .map((link) => known(record(link).link_type))
    .filter((type) => type !== null && type !== 'SELF')
  return { ...device, interconnect: peers(links.filter((type) => type !== null)) }
}
