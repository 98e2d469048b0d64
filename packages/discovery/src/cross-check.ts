import { isPassthroughDriver, pciAccelerator } from './pci-ids.ts'
import type { Accelerator, HostFacts, ToolReport } from './schema.ts'
import { createAccelerator } from './vendor.ts'

interface CrossCheckInput {
  accelerators: Accelerator[]
  host: HostFacts
  tools: ToolReport[]
  /** Tools with truncated or late output. Devices that they do not list are not lost. */
  partial: Set<string>
  proc: Map<string, { model: string | null; uuid: string | null; firmware: string | null }>
}

/**
 * Compares the devices of the tools with the PCI bus, and adds devices that no tool lists. Such a device is lost when its vendor's tool
 * works and a driver is bound to it. It is unknown when the tool failed or the device is passed through to a virtual machine. Known
 * devices get the NUMA node from sysfs.
 */
export function crossCheck({ accelerators, host, tools, partial, proc }: CrossCheckInput): {
  accelerators: Accelerator[]
  warnings: string[]
} {
  const warnings: string[] = []
  const devices = host.pci.map((pci) => ({ pci, is: pciAccelerator(pci) }))
  const slotOf = (address: string | null) => address?.replace(/\.\d$/, '') ?? null
  const known = accelerators.map((reported) => {
    // `nvidia-smi -L` prints no PCI address; the driver's files in /proc contain it.
    const procAddress = reported.pciAddress
      ? undefined
      : [...proc].find(([, entry]) => entry.uuid !== null && entry.uuid === reported.uuid)?.[0]
    const device = procAddress ? { ...reported, pciAddress: procAddress } : reported
    const pci = devices.find((candidate) => candidate.pci.address === device.pciAddress)?.pci
    return pci ? { ...device, numaNode: pci.numaNode ?? device.numaNode } : device
  })
  const added: Accelerator[] = []
  const vendors = new Set(devices.map((one) => one.is?.vendor).filter((vendor) => vendor !== undefined))
  for (const vendor of vendors) {
    const own = devices.filter((one) => one.is?.vendor === vendor)
    const listed = known.filter((device) => device.vendor === vendor)
    // Functions of one card can be partitions, which the parser merged into the card.
    const seen = new Set(
      listed.flatMap((device) => [device.pciAddress, device.partitions.length ? slotOf(device.pciAddress) : null]),
    )
    let missing = own.filter(({ pci }) => !seen.has(pci.address) && !seen.has(slotOf(pci.address)))
    // Without PCI addresses, only the number of devices can be compared.
    const unplaced = listed.filter((device) => device.pciAddress === null).length
    missing = missing.slice(unplaced)
    if (!missing.length) continue
    const toolName = own[0]?.is?.tool ?? null
    const tool = tools.find((one) => one.tool === toolName && one.state === 'OK') ?? tools.find((one) => one.tool === toolName)
    const hasListed = listed.length > 0
    const container = host.virtualization === 'container' || host.virtualization === 'docker' || host.virtualization === 'lxc'
    for (const { pci, is } of missing) {
      if (!is) continue
      const passedThrough = pci.driver === null || isPassthroughDriver(pci.driver)
      const lost = hasListed && !passedThrough && !container && tool?.state === 'OK' && !partial.has(tool.tool)
      const procEntry = proc.get(pci.address)
      added.push(
        createAccelerator(is.deviceType, is.vendor, {
          model: procEntry?.model ?? is.model,
          uuid: procEntry?.uuid ?? null,
          firmwareVersion: procEntry?.firmware ?? null,
          pciAddress: pci.address,
          numaNode: pci.numaNode,
          health: lost ? 'lost' : 'unknown',
          healthReason: lost
            ? `not listed by ${toolName}`
            : unknownReason(tool, toolName, pci.driver, passedThrough, container && hasListed),
          driverVersion: is.vendor === 'nvidia' ? (host.toolkits['nvidia driver'] ?? null) : null,
          source: 'pci',
          confidence: 'low',
        }),
      )
    }
    const addresses = missing.map(({ pci }) => pci.address)
    const shown = addresses.slice(0, 4).join(', ') + (addresses.length > 4 ? ', …' : '')
    warnings.push(
      hasListed
        ? `${toolName ?? vendor} lists ${listed.length} of ${own.length} ${vendor} devices on the PCI bus; missing: ${shown}`
        : `${own.length} ${vendor} ${own.length === 1 ? 'device' : 'devices'} on the PCI bus (${shown}), but ${toolProblem(tool, toolName)}`,
    )
  }
  return { accelerators: [...known, ...added], warnings }
}

function toolProblem(tool: ToolReport | undefined, name: string | null): string {
  if (name === null) return 'no supported tool exists'
  if (!tool || tool.state === 'ABSENT') return `${name} is not installed`
  if (tool.state === 'OK') return `${name} does not list them`
  if (tool.state === 'TIMED_OUT') return `${name} timed out`
  return `${name} failed: ${tool.reason ?? tool.state}`
}

function unknownReason(
  tool: ToolReport | undefined,
  name: string | null,
  driver: string | null,
  passedThrough: boolean,
  masked: boolean,
): string {
  if (masked) return `not listed by ${name}; the container may not have access`
  if (passedThrough) return driver ? `bound to ${driver}` : 'no driver is bound to the device'
  return toolProblem(tool, name)
}
