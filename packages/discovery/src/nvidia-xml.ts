import { XMLParser } from 'fast-xml-parser'
import type { Accelerator, Partition } from './schema.ts'
import { deviceHealth, migMode } from './smi-query.ts'
import { bytes, count, enabled, identity, known, list, number, pciAddress, plain, record, release } from './text.ts'
import { accelerator } from './vendor.ts'

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

/** Reads `-q -x` of nvsmi_device_v10 to v13, block by block. */
export function fromXml(text: string): {
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
