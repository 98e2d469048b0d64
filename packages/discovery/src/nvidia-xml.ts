import { XMLParser } from 'fast-xml-parser'
import type { Accelerator, Partition } from './schema.ts'
import { evaluateDeviceHealth, parseMigMode } from './smi-query.ts'
import {
  asArray,
  asRecord,
  parseBytes,
  parseCount,
  parseEnabled,
  parseIdentity,
  parseNumber,
  parsePciAddress,
  parseRelease,
  parseText,
  stripControl,
} from './text.ts'
import { createAccelerator } from './vendor.ts'

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  processEntities: false,
  parseTagValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
})

/** Value at a path of parsed XML, such as `getPath(gpu, 'pci', 'pci_bus_id')`. */
const getPath = (node: unknown, ...path: string[]): unknown => path.reduce((inner: unknown, key) => asRecord(inner)[key], node)

/** Parses `-q -x` of nvsmi_device_v10 to v13, also of several calls for one GPU each. The devices have no index. */
export function parseNvidiaXml(text: string): {
  accelerators: Accelerator[]
  driver: string | null
  cuda: string | null
  attached: number | null
} {
  const body = stripControl(text)
  const log = body.indexOf('<nvidia_smi_log')
  if (log < 0) return { accelerators: [], driver: null, cuda: null, attached: null }
  const first = body.indexOf('<gpu ', log)
  const head = body.slice(log, first < 0 ? undefined : first)
  const tag = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(head)?.[1]
  const driver = parseRelease(tag('kmd_version')) ?? parseRelease(tag('driver_version'))
  const cuda = parseRelease(tag('cuda_umd_version')) ?? parseRelease(tag('cuda_version'))
  // One block at a time: truncated output keeps its complete devices, and document types are never parsed.
  const blocks =
    first < 0
      ? []
      : body
          .slice(first)
          .split(/(?=<gpu )/)
          .slice(0, 256)
  const accelerators = blocks.map(parseGpu).filter((device) => device !== null)
  return { accelerators, driver, cuda, attached: parseCount(tag('attached_gpus')) }
}

function parseGpu(block: string): Accelerator | null {
  let gpu: unknown
  try {
    gpu = asRecord(parser.parse(block.split('</nvidia_smi_log>', 1)[0] ?? '')).gpu
  } catch {
    return null
  }
  gpu = Array.isArray(gpu) ? gpu[0] : gpu
  const errors = (scope: string, corrected: boolean) => {
    const kind = corrected ? /(?<!un)correctable/ : /uncorrectable/
    const counts = Object.entries(asRecord(getPath(gpu, 'ecc_errors', scope))).filter(([key]) => kind.test(key))
    const values = counts.map(([, value]) => parseCount(value)).filter((value) => value !== null)
    // Up to v10, the counts are nested: volatile/single_bit/total.
    return values.length
      ? values.reduce((a, b) => a + b, 0)
      : parseCount(getPath(gpu, 'ecc_errors', scope, corrected ? 'single_bit' : 'double_bit', 'total'))
  }
  const eccErrors = {
    correctedVolatile: errors('volatile', true),
    uncorrectedVolatile: errors('volatile', false),
    correctedAggregate: errors('aggregate', true),
    uncorrectedAggregate: errors('aggregate', false),
  }
  const power = (...readings: string[]) =>
    readings
      .flatMap((part) =>
        ['power_draw', 'instant_power_draw', 'average_power_draw'].map((name) => parseNumber(getPath(gpu, part, name))),
      )
      .find((value) => value !== null) ?? null
  const uuid = parseIdentity(getPath(gpu, 'uuid'))
  const device = createAccelerator('nvidia_gpu', 'nvidia', {
    model: parseText(getPath(gpu, 'product_name')),
    uuid,
    serial: parseIdentity(getPath(gpu, 'serial')),
    slot: parseText(getPath(gpu, 'gpu_module_id')) ?? parseText(getPath(gpu, 'platformInfo', 'module_id')),
    pciAddress: parsePciAddress(getPath(gpu, 'pci', 'pci_bus_id')) ?? parsePciAddress(getPath(gpu, '@id')),
    memoryTotal: parseBytes(getPath(gpu, 'fb_memory_usage', 'total')),
    memoryUsed: parseBytes(getPath(gpu, 'fb_memory_usage', 'used')),
    firmwareVersion: parseText(getPath(gpu, 'vbios_version')),
    computeCapability: parseText(getPath(gpu, 'compute_capability')) ?? parseText(getPath(gpu, 'compute_cap')),
    partitionMode: parseMigMode(getPath(gpu, 'mig_mode', 'current_mig')),
    partitions: parseMigDevices(getPath(gpu, 'mig_devices'), uuid),
    eccMode: parseEnabled(getPath(gpu, 'ecc_mode', 'current_ecc')),
    eccErrors: Object.values(eccErrors).some((value) => value !== null) ? eccErrors : null,
    temperature: parseNumber(getPath(gpu, 'temperature', 'gpu_temp')),
    power: power('gpu_power_readings', 'power_readings'),
    utilization: parseNumber(getPath(gpu, 'utilization', 'gpu_util')),
    ...evaluateDeviceHealth({
      texts: [...block.matchAll(/>([^<>]*)</g)].map(([, text = '']) => text),
      recovery: getPath(gpu, 'gpu_recovery_action'),
      resetRequired: getPath(gpu, 'gpu_reset_status', 'reset_required'),
      remapFailed: getPath(gpu, 'remapped_rows', 'remapped_row_failure'),
      remapPending: getPath(gpu, 'remapped_rows', 'remapped_row_pending'),
      retirementPending: getPath(gpu, 'retired_pages', 'pending_retirement'),
      unrepairable: getPath(gpu, 'ecc_errors', 'unrepairable_memory'),
      uncorrected: eccErrors.uncorrectedVolatile,
      channelRepairPending: getPath(gpu, 'ecc_errors', 'channel_repair_pending'),
      tpcRepairPending: getPath(gpu, 'ecc_errors', 'tpc_repair_pending'),
      fabricState: getPath(gpu, 'fabric', 'state'),
      fabricStatus: getPath(gpu, 'fabric', 'status'),
      fabricHealth: asRecord(getPath(gpu, 'fabric', 'health')),
    }),
  })
  return device.model || device.uuid || device.pciAddress ? device : null
}

function parseInstance(gpu: unknown, compute: unknown): string | null {
  const [gi, ci] = [parseCount(gpu), parseCount(compute)]
  return gi === null || ci === null ? null : `gi${gi}/ci${ci}`
}

function parseMigDevices(node: unknown, parentUuid: string | null): Partition[] {
  return asArray(asRecord(node).mig_device).map((child) => ({
    kind: 'mig',
    uuid: parseIdentity(getPath(child, 'uuid')),
    profile: parseText(getPath(child, 'name')),
    index: parseCount(getPath(child, 'index')),
    parentUuid,
    memoryTotal: parseBytes(getPath(child, 'fb_memory_usage', 'total')),
    instance: parseInstance(getPath(child, 'gpu_instance_id'), getPath(child, 'compute_instance_id')),
  }))
}
