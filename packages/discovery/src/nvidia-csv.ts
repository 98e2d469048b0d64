import type { Accelerator } from './schema.ts'
import { deviceHealth, migMode } from './smi-query.ts'
import { bytes, count, enabled, identity, known, linesOf, number, pciAddress } from './text.ts'
import { accelerator } from './vendor.ts'

/** What the probe asks for: known to every driver since 450, since one unknown field makes the whole call fail. */
export const NVIDIA_FIELDS =
  'index,name,uuid,serial,pci.bus_id,memory.total,memory.used,driver_version,vbios_version,temperature.gpu,power.draw,power.limit,utilization.gpu,ecc.mode.current,mig.mode.current'.split(
    ',',
  )
/** The second call of the probe, for what the XML lacks. */
export const NVIDIA_CAPABILITY_FIELDS = 'index,uuid,pci.bus_id,compute_cap,mig.mode.current'.split(',')

/** Longer spellings that the tools take and print back. */
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
 * Reads `--query-gpu` (or `--query-ppu`) in CSV: separated by `, `, never quoted, one row per physical device. The fields come from
 * the header row, from `fields`, or from the number of columns where it is one of the probe's own calls. A row with another number
 * of columns is not a device: that is how error lines look.
 */
export function nvidiaCsv(text: string, fields?: string[]): { accelerators: Accelerator[]; warnings: string[] } {
  const rows = linesOf(text)
    .map((line) => line.trim().split(/,[ \t]*/))
    .filter((row) => row.length > 1)
  const names = (row: string[]) =>
    row
      .map((cell) =>
        cell
          .replace(/\s*\[[^\]]*\]\s*$/, '')
          .trim()
          .toLowerCase(),
      )
      .map((name) => ALIASES[name] ?? name)
  const header = rows.findIndex(
    (row) =>
      names(row).filter((name) => /^(index|name|uuid|serial|timestamp|driver_version|compute_cap|[a-z]+(\.[a-z_]+)+)$/.test(name))
        .length >
      row.length / 2,
  )
  const columns = header >= 0 ? names(rows[header] ?? []) : fields ? names(fields) : guess(rows)
  const accelerators: Accelerator[] = []
  const warnings: string[] = []
  for (const row of rows.slice(header + 1)) {
    if (row.length !== columns.length) {
      warnings.push(
        `nvidia-smi: a row with ${row.length} of ${columns.length} columns was left out: ${row.join(', ').slice(0, 120)}`,
      )
      continue
    }
    const cell = (name: string) => (columns.includes(name) ? row[columns.indexOf(name)] : undefined)
    const [corrected, uncorrected] = ['corrected', 'uncorrected'].map((kind) => count(cell(`ecc.errors.${kind}.volatile.total`)))
    const ecc = { correctedVolatile: corrected ?? null, uncorrectedVolatile: uncorrected ?? null }
    const device = accelerator('nvidia_gpu', 'nvidia', {
      model: known(cell('name')),
      index: count(cell('index')),
      uuid: identity(cell('uuid')),
      serial: identity(cell('serial')),
      pciAddress: pciAddress(cell('pci.bus_id')),
      memoryTotal: bytes(cell('memory.total')),
      memoryUsed: bytes(cell('memory.used')),
      driverVersion: known(cell('driver_version')),
      firmwareVersion: known(cell('vbios_version')),
      computeCapability: known(cell('compute_cap')),
      partitionMode: migMode(cell('mig.mode.current')),
      eccMode: enabled(cell('ecc.mode.current')),
      eccErrors:
        ecc.correctedVolatile === null && ecc.uncorrectedVolatile === null
          ? null
          : { ...ecc, correctedAggregate: null, uncorrectedAggregate: null },
      temperature: number(cell('temperature.gpu')),
      power: number(cell('power.draw')),
      utilisation: number(cell('utilization.gpu')),
      ...deviceHealth({
        lost: row.some((value) => /[GP]PU is lost/i.test(value)),
        recovery: cell('gpu_recovery_action'),
        resetRequired: row.some((value) => /requires reset/i.test(value)) ? 'Yes' : undefined,
        uncorrected: ecc.uncorrectedVolatile,
      }),
    })
    if (device.model || device.uuid || device.pciAddress) accelerators.push(device)
    else warnings.push('nvidia-smi: a row without name, uuid and address was left out')
  }
  return { accelerators, warnings: warnings.slice(0, 16) }
}

/** The columns of a call without header: one of the probe's own, by their number. */
function guess(rows: string[][]): string[] {
  const own = [NVIDIA_FIELDS, NVIDIA_CAPABILITY_FIELDS].find((fields) => rows.some((row) => row.length === fields.length))
  return own ?? NVIDIA_FIELDS
}
