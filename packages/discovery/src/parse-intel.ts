import type { Accelerator, Health } from './schema.ts'
import { smiBanner, smiTable } from './smi-table.ts'
import {
  bytes,
  count,
  enabled,
  firstLine,
  identity,
  json,
  known,
  linesOf,
  list,
  number,
  pciAddress,
  peers,
  plain,
  record,
} from './text.ts'
import { accelerator, fill, join, reading, type VendorReading, withoutRepeats } from './vendor.ts'

/** Texts of xpu-smi, v1 and v2. */
export interface IntelTexts {
  /** `discovery -j`, with or without `--dump`. */
  discovery?: string
  /** `discovery -d N -j` of each device. */
  details?: string[]
  /** `stats -d N -j` of each device. */
  stats?: string[]
  /** `health -l -j`. */
  health?: string
  /** `topology -m`. */
  topology?: string
  /** The table printed without arguments. */
  table?: string
  /** `-v`. */
  version?: string
}

/** Reads Intel's xpu-smi. Kunlunxin's tool of the same name is told apart by its banner; its devices become `other`. */
export function parseIntel(texts: IntelTexts): VendorReading {
  const everything = plain([texts.discovery, texts.table, ...(texts.details ?? [])].join('\n'))
  if (/XPU-RT|kunlun|\|\s*XPU-SMI\s+Driver Version/i.test(everything)) return kunlun(everything)

  const listed = entries(json(texts.discovery ?? ''))
  const found = listed.map(fromDiscovery).filter((device) => device !== null)
  const detailed = (texts.details ?? [])
    .flatMap((text) => entries(json(text)))
    .map(fromDiscovery)
    .filter((device) => device !== null)
  let devices = found.map((device) => {
    const more = detailed.find((detail) =>
      detail.index !== null ? detail.index === device.index : detail.uuid !== null && detail.uuid === device.uuid,
    )
    // The state is told by the list.
    return more ? fill({ ...more, health: 'unknown' }, device) : device
  })
  devices = join(devices, detailed)
  const integrated = devices.filter((device) => device.pciAddress?.startsWith('0000:00:02.'))
  devices = devices.filter((device) => !integrated.includes(device))
  // Virtual functions are slices of the cards beside them; in a guest that has nothing else they are the devices.
  const virtual = listed.map(record).filter((entry) => entry.device_function_type === 'virtual')
  const cards = devices.filter((device) => !virtual.some((entry) => count(entry.device_id) === device.index))
  if (cards.length) devices = cards
  devices = withHealth(withStats(withTopology(devices, texts.topology ?? ''), texts.stats ?? []), texts.health ?? '')
  const { accelerators, warnings } = withoutRepeats(devices, 'xpu-smi')
  if (integrated.length) warnings.push(`xpu-smi: left out ${integrated.length} integrated GPU (${integrated[0]?.model})`)
  const error = record(json(texts.discovery ?? '')).error
  return reading({
    accelerators,
    version:
      /Version:\s*(\d[\w.]*)/.exec(plain(texts.version ?? ''))?.[1] ?? /XPU-SMI v?(\d[\w.]*)/.exec(everything)?.[1] ?? null,
    failure:
      accelerators.length || integrated.length
        ? null
        : (known(error) ?? firstLine(everything, /no (gpu )?device|error|fail|not /i) ?? firstLine(everything)),
    warnings,
  })
}

/** One detail object, or the ones of a `device_list`. */
const entries = (value: unknown): unknown[] => {
  const holder = record(value)
  return list(holder.device_list ?? holder.devices ?? ('device_list' in holder ? [] : value))
}

function fromDiscovery(entry: unknown): Accelerator | null {
  const fields = record(entry)
  const index = count(fields.device_id) ?? count(fields.device_index)
  const address = pciAddress(fields.pci_bdf_address) ?? pciAddress(fields.pci_bdf)
  if (!('device_name' in fields) && address === null && index === null) return null
  if (known(fields.vendor_name) && !/intel/i.test(String(fields.vendor_name))) return null
  const state = known(fields.device_state)
  const tiles = count(fields.number_of_tiles)
  return accelerator('intel_gpu', 'intel', {
    model: known(fields.device_name),
    index,
    uuid: identity(fields.uuid) ?? identity(fields.soc_uuid),
    serial: identity(fields.serial_number),
    slot: known(fields.oam_socket_id),
    pciAddress: address,
    memoryTotal: bytes(fields.memory_physical_size_byte, 'B') ?? bytes(fields.memory_physical_size, 'MiB'),
    driverVersion: known(fields.driver_version),
    firmwareVersion: known(fields.gfx_firmware_version) ?? known(fields.firmware_version),
    partitionMode: tiles !== null && tiles > 1 ? `${tiles} tiles` : null,
    eccMode: enabled(fields.memory_ecc_state),
    // v2.0 reports survivability falsely on some cards, so it is a warning, not a verdict.
    health: state && state.toLowerCase() !== 'normal' ? 'warning' : 'ok',
    healthReason: state && state.toLowerCase() !== 'normal' ? `device state: ${state}` : null,
  })
}

/** Reads `stats -j` of v1 (lists of metrics per device and tile) and v2 (nested objects). */
function withStats(devices: Accelerator[], texts: string[]): Accelerator[] {
  const all = texts.flatMap((text) => entries(json(text))).map(record)
  return devices.map((device) => {
    const stats = all.find((one) => (count(one.device_id) ?? count(one.device_index)) === device.index)
    if (!stats) return device
    const metrics = (cells: unknown) => list(cells).map(record)
    const own = (type: string) => number(metrics(stats.device_level).find((metric) => metric.metrics_type === type)?.value)
    const tiles = (type: string) =>
      metrics(stats.tile_level)
        .flatMap((tile) => metrics(tile.data_list))
        .filter((metric) => metric.metrics_type === type)
        .map((metric) => number(metric.value))
        .filter((value) => value !== null)
    const sum = (values: number[]) => (values.length ? values.reduce((a, b) => a + b, 0) : null)
    const max = (values: number[]) => (values.length ? Math.max(...values.slice(0, 64)) : null)
    const mean = (values: number[]) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null)
    const used = own('XPUM_STATS_MEMORY_USED') ?? sum(tiles('XPUM_STATS_MEMORY_USED'))
    // v2 names its figures in words, each per tile.
    const v2 = (section: string, ...names: string[]) =>
      names.map((name) => figures(record(stats[section])[name])).find((values) => values.length) ?? []
    return {
      ...device,
      // The command line prints MiB; a figure beyond the card's memory is bytes, as the service prints them.
      memoryUsed:
        (used === null
          ? null
          : used * 1024 ** 2 > (device.memoryTotal ?? Number.POSITIVE_INFINITY)
            ? count(used)
            : bytes(used, 'MiB')) ?? bytes(sum(v2('memory', 'used_mib', 'memory_used_mib', 'gpu_memory_used_mib')), 'MiB'),
      power: own('XPUM_STATS_POWER') ?? sum(tiles('XPUM_STATS_POWER')) ?? sum(v2('power', 'gpu_power_w', 'power_w')),
      temperature:
        own('XPUM_STATS_GPU_CORE_TEMPERATURE') ??
        max(tiles('XPUM_STATS_GPU_CORE_TEMPERATURE')) ??
        max(v2('temperature', 'gpu_core_celsius', 'gpu_celsius')),
      utilisation:
        own('XPUM_STATS_GPU_UTILIZATION') ??
        mean(tiles('XPUM_STATS_GPU_UTILIZATION')) ??
        mean(v2('utilization', 'gpu_percent', 'gpu_util_percent', 'gpu_utilization_percent', 'overall_percent')),
    }
  })
}

/** A v2 figure: a number, `{avg, min, max, current}`, or one such per tile. */
function figures(cell: unknown, depth = 0): number[] {
  const fields = record(cell)
  const own = number(cell) ?? number(fields.current) ?? number(fields.avg) ?? number(fields.value)
  if (own !== null) return [own]
  return depth > 2
    ? []
    : Object.values(fields)
        .slice(0, 16)
        .flatMap((value) => figures(value, depth + 1))
}

/** Reads `health -l -j`: one status per component, of which the worst that is not a mere threshold of an idle port. */
function withHealth(devices: Accelerator[], text: string): Accelerator[] {
  const all = entries(json(text)).map(record)
  const levels: Record<string, Health> = { ok: 'ok', warning: 'warning', critical: 'critical' }
  return devices.map((device) => {
    const own = all.find((one) => count(one.device_id) === device.index)
    if (!own) return device
    const parts = Object.entries(own).map(([part, value]) => ({
      part,
      level: levels[String(record(value).status ?? '').toLowerCase()],
      said: known(record(value).description),
    }))
    const worst = parts.find(({ level }) => level === 'critical') ?? parts.find(({ level }) => level === 'warning')
    return worst?.level
      ? { ...device, health: worst.level, healthReason: `${worst.part.replaceAll('_', ' ')}: ${worst.said ?? worst.level}` }
      : device
  })
}

/** Reads `topology -m`: `GPU 0/0 |S |MDF |XL16 …`. Of each card the first tile stands for it. */
function withTopology(devices: Accelerator[], text: string): Accelerator[] {
  const lines = linesOf(text).map((line) => line.replaceAll('|', ' ').trim())
  const names = [...(lines.find((line) => /^GPU \d+(\/\d+)?\s+GPU/.test(line)) ?? '').matchAll(/GPU (\d+)(?:\/(\d+))?/g)]
  return devices.map((device) => {
    const row = lines.find((line) => new RegExp(`^GPU ${device.index}(/0)?\\s+(?!GPU)\\S`).test(line))
    const cells = row?.split(/\s+/).slice(2) ?? []
    const links = cells.filter((cell, column) => {
      const [, card, tile = '0'] = names[column] ?? []
      return card !== undefined && Number(card) !== device.index && tile === '0' && known(cell)
    })
    return { ...device, interconnect: device.interconnect ?? peers(links) }
  })
}

/** Kunlunxin's xpu-smi: a table in the likeness of nvidia-smi's, with a third row per device. */
function kunlun(text: string): VendorReading {
  const driver = known(smiBanner(text).labels.driver) ?? known(/Driver Version:\s*(\S+)/.exec(text)?.[1])
  const accelerators = smiTable(text, 'other', 'kunlunxin').map((device) => ({ ...device, driverVersion: driver }))
  return reading({ accelerators, version: driver, foreign: 'Kunlunxin XPU-SMI' })
}
