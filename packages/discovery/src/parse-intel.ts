import type { Accelerator, Health } from './schema.ts'
import { parseSmiBanner, parseSmiTable } from './smi-table.ts'
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
  splitLines,
  stripControl,
  summarizePeers,
} from './text.ts'
import { createAccelerator, fillMissing, mergeDevices, removeDuplicates, type VendorResult, vendorResult } from './vendor.ts'

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
  /** Call without arguments. */
  table?: string
  /** `-v`. */
  version?: string
}

/** Parses Intel's xpu-smi. Kunlunxin's tool of the same name has a different banner; its devices are `other`. */
export function parseIntel(texts: IntelTexts): VendorResult {
  const everything = stripControl([texts.discovery, texts.table, ...(texts.details ?? [])].join('\n'))
  if (/XPU-RT|kunlun|\|\s*XPU-SMI\s+Driver Version/i.test(everything)) return parseKunlun(everything)

  const listed = listEntries(parseJson(texts.discovery ?? ''))
  const found = listed.map(parseDiscoveryEntry).filter((device) => device !== null)
  const detailed = (texts.details ?? [])
    .flatMap((text) => listEntries(parseJson(text)))
    .map(parseDiscoveryEntry)
    .filter((device) => device !== null)
  let devices = found.map((device) => {
    const more = detailed.find((detail) =>
      detail.index !== null ? detail.index === device.index : detail.uuid !== null && detail.uuid === device.uuid,
    )
    // The list contains the state.
    return more ? fillMissing({ ...more, health: 'unknown' }, device) : device
  })
  devices = mergeDevices(devices, detailed)
  const integrated = devices.filter((device) => device.pciAddress?.startsWith('0000:00:02.'))
  devices = devices.filter((device) => !integrated.includes(device))
  // Virtual functions are partitions of physical cards. In a virtual machine without cards they are the devices.
  const virtual = listed.map(asRecord).filter((entry) => entry.device_function_type === 'virtual')
  const cards = devices.filter((device) => !virtual.some((entry) => parseCount(entry.device_id) === device.index))
  if (cards.length) devices = cards
  devices = addHealth(addStats(addTopology(devices, texts.topology ?? ''), texts.stats ?? []), texts.health ?? '')
  const { accelerators, warnings } = removeDuplicates(devices, 'xpu-smi')
  if (integrated.length) warnings.push(`xpu-smi: ignored ${integrated.length} integrated GPU (${integrated[0]?.model})`)
  const error = asRecord(parseJson(texts.discovery ?? '')).error
  return vendorResult({
    accelerators,
    version:
      /Version:\s*(\d[\w.]*)/.exec(stripControl(texts.version ?? ''))?.[1] ??
      /XPU-SMI v?(\d[\w.]*)/.exec(everything)?.[1] ??
      null,
    failure:
      accelerators.length || integrated.length
        ? null
        : (parseText(error) ?? firstLine(everything, /no (gpu )?device|error|fail|not /i) ?? firstLine(everything)),
    warnings,
  })
}

/** Returns the objects of a `device_list`, or a single detail object. */
const listEntries = (value: unknown): unknown[] => {
  const holder = asRecord(value)
  return asArray(holder.device_list ?? holder.devices ?? ('device_list' in holder ? [] : value))
}

function parseDiscoveryEntry(entry: unknown): Accelerator | null {
  const fields = asRecord(entry)
  const index = parseCount(fields.device_id) ?? parseCount(fields.device_index)
  const address = parsePciAddress(fields.pci_bdf_address) ?? parsePciAddress(fields.pci_bdf)
  if (!('device_name' in fields) && address === null && index === null) return null
  if (parseText(fields.vendor_name) && !/intel/i.test(String(fields.vendor_name))) return null
  const state = parseText(fields.device_state)
  const tiles = parseCount(fields.number_of_tiles)
  return createAccelerator('intel_gpu', 'intel', {
    model: parseText(fields.device_name),
    index,
    uuid: parseIdentity(fields.uuid) ?? parseIdentity(fields.soc_uuid),
    serial: parseIdentity(fields.serial_number),
    slot: parseText(fields.oam_socket_id),
    pciAddress: address,
    memoryTotal: parseBytes(fields.memory_physical_size_byte, 'B') ?? parseBytes(fields.memory_physical_size, 'MiB'),
    driverVersion: parseText(fields.driver_version),
    firmwareVersion: parseText(fields.gfx_firmware_version) ?? parseText(fields.firmware_version),
    partitionMode: tiles !== null && tiles > 1 ? `${tiles} tiles` : null,
    eccMode: parseEnabled(fields.memory_ecc_state),
    // v2.0 reports false survivability states on some cards, so this is only a warning.
    health: state && state.toLowerCase() !== 'normal' ? 'warning' : 'ok',
    healthReason: state && state.toLowerCase() !== 'normal' ? `device state: ${state}` : null,
  })
}

/** Adds `stats -j` of v1 (lists of metrics per device and tile) and v2 (nested objects). */
function addStats(devices: Accelerator[], texts: string[]): Accelerator[] {
  const all = texts.flatMap((text) => listEntries(parseJson(text))).map(asRecord)
  return devices.map((device) => {
    const stats = all.find((one) => (parseCount(one.device_id) ?? parseCount(one.device_index)) === device.index)
    if (!stats) return device
    const metrics = (cells: unknown) => asArray(cells).map(asRecord)
    const own = (type: string) => parseNumber(metrics(stats.device_level).find((metric) => metric.metrics_type === type)?.value)
    const tiles = (type: string) =>
      metrics(stats.tile_level)
        .flatMap((tile) => metrics(tile.data_list))
        .filter((metric) => metric.metrics_type === type)
        .map((metric) => parseNumber(metric.value))
        .filter((value) => value !== null)
    const sum = (values: number[]) => (values.length ? values.reduce((a, b) => a + b, 0) : null)
    const max = (values: number[]) => (values.length ? Math.max(...values.slice(0, 64)) : null)
    const mean = (values: number[]) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null)
    const used = own('XPUM_STATS_MEMORY_USED') ?? sum(tiles('XPUM_STATS_MEMORY_USED'))
    // v2 has named metrics per tile.
    const v2 = (section: string, ...names: string[]) =>
      names.map((name) => parseFigures(asRecord(stats[section])[name])).find((values) => values.length) ?? []
    return {
      ...device,
      // The command line prints MiB, the service bytes. A value beyond the card's memory is in bytes.
      memoryUsed:
        (used === null
          ? null
          : used * 1024 ** 2 > (device.memoryTotal ?? Number.POSITIVE_INFINITY)
            ? parseCount(used)
            : parseBytes(used, 'MiB')) ??
        parseBytes(sum(v2('memory', 'used_mib', 'memory_used_mib', 'gpu_memory_used_mib')), 'MiB'),
      power: own('XPUM_STATS_POWER') ?? sum(tiles('XPUM_STATS_POWER')) ?? sum(v2('power', 'gpu_power_w', 'power_w')),
      temperature:
        own('XPUM_STATS_GPU_CORE_TEMPERATURE') ??
        max(tiles('XPUM_STATS_GPU_CORE_TEMPERATURE')) ??
        max(v2('temperature', 'gpu_core_celsius', 'gpu_celsius')),
      utilization:
        own('XPUM_STATS_GPU_UTILIZATION') ??
        mean(tiles('XPUM_STATS_GPU_UTILIZATION')) ??
        mean(v2('utilization', 'gpu_percent', 'gpu_util_percent', 'gpu_utilization_percent', 'overall_percent')),
    }
  })
}

/** Parses a v2 metric: a number, `{avg, min, max, current}`, or one of these per tile. */
function parseFigures(cell: unknown, depth = 0): number[] {
  const fields = asRecord(cell)
  const own = parseNumber(cell) ?? parseNumber(fields.current) ?? parseNumber(fields.avg) ?? parseNumber(fields.value)
  if (own !== null) return [own]
  return depth > 2
    ? []
    : Object.values(fields)
        .slice(0, 16)
        .flatMap((value) => parseFigures(value, depth + 1))
}

/** Adds the most severe component status of `health -l -j`. */
function addHealth(devices: Accelerator[], text: string): Accelerator[] {
  const all = listEntries(parseJson(text)).map(asRecord)
  const levels: Record<string, Health> = { ok: 'ok', warning: 'warning', critical: 'critical' }
  return devices.map((device) => {
    const own = all.find((one) => parseCount(one.device_id) === device.index)
    if (!own) return device
    const parts = Object.entries(own).map(([part, value]) => ({
      part,
      level: levels[String(asRecord(value).status ?? '').toLowerCase()],
      description: parseText(asRecord(value).description),
    }))
    const worst = parts.find(({ level }) => level === 'critical') ?? parts.find(({ level }) => level === 'warning')
    return worst?.level
      ? {
          ...device,
          health: worst.level,
          healthReason: `${worst.part.replaceAll('_', ' ')}: ${worst.description ?? worst.level}`,
        }
      : device
  })
}

/** Adds links to peers from `topology -m`: `GPU 0/0 |S |MDF |XL16 …`. The first tile represents its card. */
function addTopology(devices: Accelerator[], text: string): Accelerator[] {
  const lines = splitLines(text).map((line) => line.replaceAll('|', ' ').trim())
  const names = [...(lines.find((line) => /^GPU \d+(\/\d+)?\s+GPU/.test(line)) ?? '').matchAll(/GPU (\d+)(?:\/(\d+))?/g)]
  return devices.map((device) => {
    const row = lines.find((line) => new RegExp(`^GPU ${device.index}(/0)?\\s+(?!GPU)\\S`).test(line))
    const cells = row?.split(/\s+/).slice(2) ?? []
    const links = cells.filter((cell, column) => {
      const [, card, tile = '0'] = names[column] ?? []
      return card !== undefined && Number(card) !== device.index && tile === '0' && parseText(cell)
    })
    return { ...device, interconnect: device.interconnect ?? summarizePeers(links) }
  })
}

/** Parses Kunlunxin's xpu-smi, a table like that of nvidia-smi with a third row per device. */
function parseKunlun(text: string): VendorResult {
  const driver = parseText(parseSmiBanner(text).labels.driver) ?? parseText(/Driver Version:\s*(\S+)/.exec(text)?.[1])
  const accelerators = parseSmiTable(text, 'other', 'kunlunxin').map((device) => ({ ...device, driverVersion: driver }))
  return vendorResult({ accelerators, version: driver, foreign: 'Kunlunxin XPU-SMI' })
}
