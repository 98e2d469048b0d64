import { readAmdSysfs } from './host-devices.ts'
import { isPassthroughDriver, pciAccelerator } from './pci-ids.ts'
import type { Accelerator, HostFacts, PciDevice, ToolReport } from './schema.ts'
import { createAccelerator } from './vendor.ts'

interface CrossCheckInput {
  accelerators: Accelerator[]
  host: HostFacts
  tools: ToolReport[]
  /** Messages of tools about lost devices, by PCI address. */
  lost: Map<string, string>
  /** Contents of files by path. */
  files: Map<string, string>
  proc: Map<string, { model: string | null; uuid: string | null; firmware: string | null }>
}

/**
 * Compares the devices of the tools with the PCI bus, and adds devices that no tool lists. Such a device is lost when the tool
 * names it or it does not answer on the bus. Otherwise it is unknown: containers, virtual machines and failed tools hide working devices.
 * Known devices get the NUMA node, and a missing model, from the bus.
 */
export function crossCheck({ accelerators, host, tools, lost, files, proc }: CrossCheckInput): {
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
    const found = devices.find((candidate) => candidate.pci.address === device.pciAddress)
    if (!found) return device
    return {
      ...device,
      numaNode: found.pci.numaNode ?? device.numaNode,
      model: device.model ?? (found.is?.isNamed ? found.is.model : null),
    }
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
      const lostReason = lost.get(pci.address) ?? lostEvidence(pci)
      const procEntry = proc.get(pci.address)
      added.push(
        createAccelerator(is.deviceType, is.vendor, {
          model: procEntry?.model ?? is.model,
          uuid: procEntry?.uuid ?? null,
          firmwareVersion: procEntry?.firmware ?? null,
          pciAddress: pci.address,
          numaNode: pci.numaNode,
          health: lostReason ? 'lost' : 'unknown',
          healthReason: lostReason ?? unknownReason(tool, toolName, pci.driver, passedThrough, hasListed, container),
          driverVersion: is.vendor === 'nvidia' ? (host.toolkits['nvidia driver'] ?? null) : null,
          ...(is.vendor === 'amd' ? readAmdSysfs(files, pci.address, host) : {}),
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

/** A device that fell off the bus reads as ones: revision ff, 63 lanes. Null for a device that answers. */
const lostEvidence = ({ revision, linkWidth }: PciDevice): string | null =>
  revision === 'ff' || linkWidth === 63 ? 'does not answer on the PCI bus' : null

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
  hasListed: boolean,
  container: boolean,
): string {
  if (passedThrough) return driver ? `bound to ${driver}` : 'no driver is bound to the device'
  if (hasListed)
    return `not visible here: ${name} lists other devices only${container ? '; the container may not have access' : ''}`
  return toolProblem(tool, name)
}
