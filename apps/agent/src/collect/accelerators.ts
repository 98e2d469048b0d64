import {
  type Accelerator,
  accelerator,
  NVIDIA_FIELDS,
  parseAmd,
  parseHuawei,
  parseIntel,
  parseNvidia,
  parseThead,
  pciAccelerator,
} from '@muster/discovery/parsers'
import { exists, names, text } from '../files.ts'
import { every, find, output } from '../run.ts'

const ECC_FIELDS = ['ecc.errors.corrected.volatile.total', 'ecc.errors.uncorrected.volatile.total']
const SECONDS = 60
/** For what does not change while a node is up, and for tools that are slow to start. */
const SELDOM = 3600

type Reader = () => Promise<Accelerator[] | null>

/** The call that costs least and tells how a device is, for each vendor. Null: there is no such tool, or it does not answer. */
const TOOLS: Record<string, () => Reader> = {
  'nvidia-smi': () => every(SECONDS, async () => smi('nvidia-smi', '--query-gpu')),
  'ppu-smi': () => every(SECONDS, async () => smi('ppu-smi', '--query-ppu')),
  'amd-smi': () => {
    const fixed = every(SELDOM, () => slow('amd-smi', ['static', '--json']))
    return every(SECONDS * 5, async () =>
      told(parseAmd({ static: (await fixed()) ?? '', metric: (await slow('amd-smi', ['metric', '--json'])) ?? '' })),
    )
  },
  'xpu-smi': () => {
    const fixed = every(SELDOM, () => slow('xpu-smi', ['discovery', '-j']))
    return every(SECONDS, async () => {
      const discovery = (await fixed()) ?? ''
      const ids = [...discovery.matchAll(/"device_id"\s*:\s*(\d+)/g)].map(([, id]) => id!)
      const stats = await Promise.all(ids.map((id) => slow('xpu-smi', ['stats', '-d', id, '-j'])))
      return told(parseIntel({ discovery, stats: stats.map((each) => each ?? '') }))
    })
  },
  'npu-smi': () => every(SECONDS, async () => told(parseHuawei({ info: (await slow('npu-smi', ['info'])) ?? '' }))),
}

const slow = (tool: string, args: string[]) => output(tool, args, { seconds: 20, failing: true })
const told = ({ accelerators }: { accelerators: Accelerator[] }) => (accelerators.length ? accelerators : null)

/** CSV of NVIDIA's tool or of the one that T-Head made after it; drivers that do not know the counters of ECC refuse the whole call. */
async function smi(tool: string, query: string): Promise<Accelerator[] | null> {
  for (const fields of [[...NVIDIA_FIELDS, ...ECC_FIELDS], NVIDIA_FIELDS]) {
    const csv = [{ fields, text: (await slow(tool, [`${query}=${fields.join(',')}`, '--format=csv,noheader,nounits'])) ?? '' }]
    const read = tool === 'nvidia-smi' ? parseNvidia({ csv }) : parseThead({ csv })
    const found = told(read.foreign ? parseThead({ csv }) : read)
    if (found) return found
  }
  return null
}

/**
 * Every device, as its vendor's tool tells it. Devices that only the PCI bus shows are there, too, with nothing known of their health:
 * a broken driver must not make a node look empty. Null where there are no such devices and no tool.
 */
export function acceleratorReader(root: string): () => Promise<ReturnType<typeof beat>[] | null> {
  const readers = Object.entries(TOOLS).map(([tool, reader]) => ({ tool, read: reader() }))
  return async () => {
    const present = readers.filter(({ tool }) => find(tool))
    const known = (await Promise.all(present.map((each) => each.read()))).flatMap((devices) => devices ?? [])
    const onBus = pciDevices(root).filter(({ pci_address }) => !known.some((device) => device.pciAddress === pci_address))
    // Chips of which a tool says no address cannot be told from those on the bus.
    const unlike = onBus.filter(({ vendor }) => !known.some((device) => device.vendor === vendor && device.pciAddress === null))
    for (const device of unlike)
      if (known.some(({ vendor }) => vendor === device.vendor))
        Object.assign(device, { health: 'lost', health_reason: 'on the bus, but its tool does not list it' })
    return present.length || unlike.length ? [...known.map(beat), ...unlike] : null
  }
}

function beat(device: Accelerator) {
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
    utilization_percent: device.utilisation === null ? null : Math.min(100, Math.max(0, device.utilisation)),
    temperature_celsius: device.temperature,
    power_watts: device.power,
    ecc_corrected: ecc?.correctedVolatile ?? null,
    ecc_uncorrected: ecc?.uncorrectedVolatile ?? null,
  }
}

const BLANK = accelerator('other', '', { healthReason: 'no tool tells of it' })

/** Devices on the bus that are accelerators; virtual functions are parts of one. */
function pciDevices(root: string) {
  return names(root, '/sys/bus/pci/devices').flatMap((address) => {
    const id = (file: string) => text(root, `/sys/bus/pci/devices/${address}/${file}`)?.replace(/^0x/, '') ?? ''
    if (exists(root, `/sys/bus/pci/devices/${address}/physfn`)) return []
    const found = pciAccelerator({ address, vendorId: id('vendor'), deviceId: id('device'), classId: id('class').slice(0, 4) })
    if (!found) return []
    const { deviceType, vendor, model } = found
    const silent = beat({ ...BLANK, deviceType, vendor, model, pciAddress: address })
    return [silent]
  })
}
