import { pciAccelerator } from './pci-ids.ts'
import type { Accelerator, HostFacts, ToolReport } from './schema.ts'
import { accelerator } from './vendor.ts'

interface Sightings {
  accelerators: Accelerator[]
  host: HostFacts
  tools: ToolReport[]
  /** Tools whose answer was cut or came late: what they do not list is not lost. */
  partial: Set<string>
  proc: Map<string, { model: string | null; uuid: string | null; firmware: string | null }>
}

/**
 * Compares what the tools list with what sits on the PCI bus. A device that no tool lists is added from PCI: lost where its
 * vendor's tool works and its driver holds it, unknown where the tool itself is the trouble or the device is handed to a guest.
 * Known devices get the NUMA node that sysfs tells.
 */
export function crossCheck({ accelerators, host, tools, partial, proc }: Sightings): {
  accelerators: Accelerator[]
  warnings: string[]
} {
  const warnings: string[] = []
  const devices = host.pci.map((pci) => ({ pci, is: pciAccelerator(pci) }))
  const place = (address: string | null) => address?.replace(/\.\d$/, '') ?? null
  const known = accelerators.map((seen) => {
    // `nvidia-smi -L` tells no place; the driver's own files do.
    const placed = seen.pciAddress ? undefined : [...proc].find(([, told]) => told.uuid !== null && told.uuid === seen.uuid)?.[0]
    const device = placed ? { ...seen, pciAddress: placed } : seen
    const pci = devices.find((one) => one.pci.address === device.pciAddress)?.pci
    return pci ? { ...device, numaNode: pci.numaNode ?? device.numaNode } : device
  })
  const added: Accelerator[] = []
  const vendors = new Set(devices.map((one) => one.is?.vendor).filter((vendor) => vendor !== undefined))
  for (const vendor of vendors) {
    const own = devices.filter((one) => one.is?.vendor === vendor)
    const listed = known.filter((device) => device.vendor === vendor)
    // Functions of one card can be partitions that the tool folded into it.
    const seen = new Set(
      listed.flatMap((device) => [device.pciAddress, device.partitions.length ? place(device.pciAddress) : null]),
    )
    let missing = own.filter(({ pci }) => !seen.has(pci.address) && !seen.has(place(pci.address)))
    // Where a tool tells no addresses (list-only answers), only the numbers can be compared.
    const unplaced = listed.filter((device) => device.pciAddress === null).length
    missing = missing.slice(unplaced)
    if (!missing.length) continue
    const toolName = own[0]?.is?.tool ?? null
    const tool = tools.find((one) => one.tool === toolName && one.state === 'OK') ?? tools.find((one) => one.tool === toolName)
    const answered = listed.length > 0
    const container = host.virtualization === 'container' || host.virtualization === 'docker' || host.virtualization === 'lxc'
    for (const { pci, is } of missing) {
      if (!is) continue
      const handed = pci.driver === null || /^(vfio|pci-stub|xen-pciback)/.test(pci.driver)
      const lost = answered && !handed && !container && tool?.state === 'OK' && !partial.has(tool.tool)
      const told = proc.get(pci.address)
      added.push(
        accelerator(is.deviceType, is.vendor, {
          model: told?.model ?? is.model,
          uuid: told?.uuid ?? null,
          firmwareVersion: told?.firmware ?? null,
          pciAddress: pci.address,
          numaNode: pci.numaNode,
          health: lost ? 'lost' : 'unknown',
          healthReason: lost
            ? `${toolName} does not list it`
            : reasonFor(tool, toolName, pci.driver, handed, container && answered),
          driverVersion: is.vendor === 'nvidia' ? (host.toolkits['nvidia driver'] ?? null) : null,
          source: 'pci',
          confidence: 'low',
        }),
      )
    }
    const places = missing.map(({ pci }) => pci.address)
    const shown = places.slice(0, 4).join(', ') + (places.length > 4 ? ', …' : '')
    warnings.push(
      answered
        ? `${toolName ?? vendor} lists ${listed.length} of ${own.length} ${vendor} devices on the PCI bus; missing: ${shown}`
        : `${own.length} ${vendor} ${own.length === 1 ? 'device' : 'devices'} on the PCI bus (${shown}), but ${saying(tool, toolName)}`,
    )
  }
  return { accelerators: [...known, ...added], warnings }
}

function saying(tool: ToolReport | undefined, name: string | null): string {
  if (name === null) return 'there is no supported tool for them'
  if (!tool || tool.state === 'ABSENT') return `${name} is not installed`
  if (tool.state === 'OK') return `${name} does not list it`
  if (tool.state === 'TIMED_OUT') return `${name} did not answer in time`
  return `${name} did not list them: ${tool.reason ?? tool.state}`
}

function reasonFor(
  tool: ToolReport | undefined,
  name: string | null,
  driver: string | null,
  handed: boolean,
  masked: boolean,
): string {
  if (masked) return `${name} does not list it; the container may not be given it`
  if (handed) return driver ? `held by ${driver}` : 'no driver is bound to it'
  return saying(tool, name)
}
