import {
  type Accelerator,
  accelerator,
  isPassthroughDriver,
  NVIDIA_FIELDS,
  parseAmd,
  parseHuawei,
  parseIntel,
  parseNvidia,
  parseThead,
  pciAccelerator,
} from '@muster/discovery/parsers'
import { fileExists, listFolder, readLinkName, readText } from '../files.ts'
import { cacheFor, findProgram, runProgram } from '../program.ts'

const ECC_FIELDS = ['ecc.errors.corrected.volatile.total', 'ecc.errors.uncorrected.volatile.total']
const SECONDS = 60
/** Cache duration of inventory that does not change while the node is up. */
const INVENTORY_SECONDS = 3600

type Reader = () => Promise<Accelerator[] | null>

/** Cheapest call per vendor that reports device health. Null when the tool fails. */
const TOOLS: Record<string, () => Reader> = {
  'nvidia-smi': () => cacheFor(SECONDS, async () => queryCsv('nvidia-smi', '--query-gpu')),
  'ppu-smi': () => cacheFor(SECONDS, async () => queryCsv('ppu-smi', '--query-ppu')),
  'amd-smi': () => {
    const inventory = cacheFor(INVENTORY_SECONDS, () => runTool('amd-smi', ['static', '--json']))
    return cacheFor(SECONDS * 5, async () =>
      nonEmpty(parseAmd({ static: (await inventory()) ?? '', metric: (await runTool('amd-smi', ['metric', '--json'])) ?? '' })),
    )
  },
  'xpu-smi': () => {
    const inventory = cacheFor(INVENTORY_SECONDS, () => runTool('xpu-smi', ['discovery', '-j']))
    return cacheFor(SECONDS, async () => {
      const discovery = (await inventory()) ?? ''
      const ids = [...discovery.matchAll(/"device_id"\s*:\s*(\d+)/g)].map(([, id]) => id!)
      const stats = await Promise.all(ids.map((id) => runTool('xpu-smi', ['stats', '-d', id, '-j'])))
      return nonEmpty(parseIntel({ discovery, stats: stats.map((text) => text ?? '') }))
    })
  },
  'npu-smi': () => cacheFor(SECONDS, async () => nonEmpty(parseHuawei({ info: (await runTool('npu-smi', ['info'])) ?? '' }))),
}

const runTool = (tool: string, args: string[]) => runProgram(tool, args, { seconds: 20, acceptFailure: true })
const nonEmpty = ({ accelerators }: { accelerators: Accelerator[] }) => (accelerators.length ? accelerators : null)

/** Queries nvidia-smi, or ppu-smi with the same interface. Drivers without the ECC counters reject the call, so it is repeated without. */
async function queryCsv(tool: string, query: string): Promise<Accelerator[] | null> {
  for (const fields of [[...NVIDIA_FIELDS, ...ECC_FIELDS], NVIDIA_FIELDS]) {
    const csv = [{ fields, text: (await runTool(tool, [`${query}=${fields.join(',')}`, '--format=csv,noheader,nounits'])) ?? '' }]
    const reading = tool === 'nvidia-smi' ? parseNvidia({ csv }) : parseThead({ csv })
    const found = nonEmpty(reading.foreign ? parseThead({ csv }) : reading)
    if (found) return found
  }
  return null
}

/**
 * Reads all accelerators from the vendors' tools. Devices that only the PCI bus shows are included, so a broken driver does not make the
 * node look empty. Such a device is lost when its tool lists others of the vendor, unless the host has no driver for it or passes it
 * through to a virtual machine. Null when the node has neither accelerators nor tools.
 */
export function createAcceleratorReader(root: string): () => Promise<AcceleratorStatus[] | null> {
  const readers = Object.entries(TOOLS).map(([tool, reader]) => ({ tool, read: reader() }))
  return async () => {
    const present = readers.filter(({ tool }) => findProgram(tool))
    const listed = (await Promise.all(present.map((reader) => reader.read()))).flatMap((devices) => devices ?? [])
    const unlisted = listPciAccelerators(root).filter(
      ({ pciAddress, vendor }) =>
        !listed.some((device) => device.pciAddress === pciAddress) &&
        // Chips without a PCI address cannot be matched with devices on the bus.
        !listed.some((device) => device.vendor === vendor && device.pciAddress === null),
    )
    const statuses = [
      ...listed,
      ...unlisted.map(({ driver, ...device }) => {
        const toolWorks = listed.some(({ vendor }) => vendor === device.vendor)
        return accelerator(device.deviceType, device.vendor, { ...device, ...unlistedHealth(driver, toolWorks) })
      }),
    ].map(toStatus)
    return present.length || statuses.length ? statuses : null
  }
}

function unlistedHealth(driver: string | null, toolWorks: boolean): Pick<Accelerator, 'health' | 'healthReason'> {
  if (isPassthroughDriver(driver)) return { health: 'unknown', healthReason: `passed through to a virtual machine (${driver})` }
  if (!toolWorks) return { health: 'unknown', healthReason: 'not reported by any vendor tool' }
  if (driver === null) return { health: 'unknown', healthReason: 'no driver is bound to the device' }
  return { health: 'lost', healthReason: 'on the PCI bus, but not listed by the vendor tool' }
}

type AcceleratorStatus = ReturnType<typeof toStatus>

function toStatus(device: Accelerator) {
  const ecc = device.eccErrors
  return {
    device_type: device.deviceType as string,
    vendor: device.vendor,
    model: device.model,
    index: device.index,
    uuid: device.uuid,
    slot: device.slot,
    pci_address: device.pciAddress,
    health: device.health,
    health_reason: device.healthReason,
    memory_total_bytes: device.memoryTotal,
    memory_used_bytes: device.memoryUsed,
    utilization_percent: device.utilization === null ? null : Math.min(100, Math.max(0, device.utilization)),
    temperature_celsius: device.temperature,
    power_watts: device.power,
    ecc_corrected: ecc?.correctedVolatile ?? null,
    ecc_uncorrected: ecc?.uncorrectedVolatile ?? null,
  }
}

/** Accelerators on the PCI bus, without virtual functions. */
function listPciAccelerators(root: string) {
  return listFolder(root, '/sys/bus/pci/devices').flatMap((address) => {
    const id = (file: string) => readText(root, `/sys/bus/pci/devices/${address}/${file}`)?.replace(/^0x/, '') ?? ''
    if (fileExists(root, `/sys/bus/pci/devices/${address}/physfn`)) return []
    const found = pciAccelerator({ address, vendorId: id('vendor'), deviceId: id('device'), classId: id('class').slice(0, 4) })
    if (!found) return []
    const { deviceType, vendor, model } = found
    const driver = readLinkName(root, `/sys/bus/pci/devices/${address}/driver`)
    return [{ deviceType, vendor, model, pciAddress: address, driver }]
  })
}
