import type { Accelerator } from './schema.ts'
import { evaluateDeviceHealth, parseMigMode } from './smi-query.ts'
import {
  parseBytes,
  parseCount,
  parseEnabled,
  parseIdentity,
  parseNumber,
  parsePciAddress,
  parseText,
  splitLines,
} from './text.ts'
import { createAccelerator } from './vendor.ts'

/** Fields of the probe's query. All drivers since 450 support them; one unknown field makes the whole call fail. */
export const NVIDIA_FIELDS =
  'index,name,uuid,serial,pci.bus_id,memory.total,memory.used,driver_version,vbios_version,temperature.gpu,power.draw,power.limit,utilization.gpu,ecc.mode.current,mig.mode.current'.split(
    ',',
  )
/** Fields of the probe's second query, which the XML lacks. */
export const NVIDIA_CAPABILITY_FIELDS = 'index,uuid,pci.bus_id,compute_cap,mig.mode.current'.split(',')

/** Alternative field names of the tools. */
const ALIASES: Record<string, string> = {
  gpu_name: 'name',
  gpu_uuid: 'uuid',
  gpu_serial: 'serial',
  gpu_bus_id: 'pci.bus_id',
  'pci.bus': 'pci.bus_id',
  ppu_name: 'name',
  ppu_uuid: 'uuid',
  ppu_serial: 'serial',
  ppu_bus_id: 'pci.bus_id',
  kmd_version: 'driver_version',
  'temperature.ppu': 'temperature.gpu',
  'utilization.ppu': 'utilization.gpu',
  compute_capability: 'compute_cap',
  'power.draw.instant': 'power.draw',
  'power.draw.average': 'power.draw',
}

/**
 * Parses the CSV of `--query-gpu` or `--query-ppu`: separated by `, `, never quoted, one row per physical device. The columns come from the
 * header row, from `fields`, or from the column count of the probe's own queries. Rows with another column count are error messages.
 */
export function parseNvidiaCsv(text: string, fields?: string[]): { accelerators: Accelerator[]; warnings: string[] } {
  const rows = splitLines(text)
    .map((line) => line.trim().split(/,[ \t]*/))
    .filter((row) => row.length > 1)
  const names = (row: string[]) =>
    row
      // Units follow in brackets: `memory.total [MiB]`.
      .map((cell) => (cell.split('[', 1)[0] ?? '').trim().toLowerCase())
      .map((name) => ALIASES[name] ?? name)
  const header = rows.findIndex(
    (row) =>
      names(row).filter((name) => /^(index|name|uuid|serial|timestamp|driver_version|compute_cap|[a-z]+(\.[a-z_]+)+)$/.test(name))
        .length >
      row.length / 2,
  )
  const columns = header >= 0 ? names(rows[header] ?? []) : fields ? names(fields) : guessColumns(rows)
  const accelerators: Accelerator[] = []
  const warnings: string[] = []
  for (const row of rows.slice(header + 1)) {
    if (row.length !== columns.length) {
      warnings.push(`nvidia-smi: ignored a row with ${row.length} of ${columns.length} columns: ${row.join(', ').slice(0, 120)}`)
      continue
    }
    const cell = (name: string) => (columns.includes(name) ? row[columns.indexOf(name)] : undefined)
    const [corrected, uncorrected] = ['corrected', 'uncorrected'].map((kind) =>
      parseCount(cell(`ecc.errors.${kind}.volatile.total`)),
    )
    const ecc = { correctedVolatile: corrected ?? null, uncorrectedVolatile: uncorrected ?? null }
    const device = createAccelerator('nvidia_gpu', 'nvidia', {
      model: parseText(cell('name')),
      index: parseCount(cell('index')),
      uuid: parseIdentity(cell('uuid')),
      serial: parseIdentity(cell('serial')),
      pciAddress: parsePciAddress(cell('pci.bus_id')),
      memoryTotal: parseBytes(cell('memory.total')),
      memoryUsed: parseBytes(cell('memory.used')),
      driverVersion: parseText(cell('driver_version')),
      firmwareVersion: parseText(cell('vbios_version')),
      computeCapability: parseText(cell('compute_cap')),
      partitionMode: parseMigMode(cell('mig.mode.current')),
      eccMode: parseEnabled(cell('ecc.mode.current')),
      eccErrors:
        ecc.correctedVolatile === null && ecc.uncorrectedVolatile === null
          ? null
          : { ...ecc, correctedAggregate: null, uncorrectedAggregate: null },
      temperature: parseNumber(cell('temperature.gpu')),
      power: parseNumber(cell('power.draw')),
      utilization: parseNumber(cell('utilization.gpu')),
      ...evaluateDeviceHealth({
        texts: row,
        recovery: cell('gpu_recovery_action'),
        uncorrected: ecc.uncorrectedVolatile,
      }),
    })
    if (device.model || device.uuid || device.pciAddress) accelerators.push(device)
    else warnings.push('nvidia-smi: ignored a row without name, UUID and PCI address')
  }
  return { accelerators, warnings: warnings.slice(0, 16) }
}

/** Columns of output without header, from the column count of the probe's queries. */
function guessColumns(rows: string[][]): string[] {
  const own = [NVIDIA_FIELDS, NVIDIA_CAPABILITY_FIELDS].find((fields) => rows.some((row) => row.length === fields.length))
  return own ?? NVIDIA_FIELDS
}
