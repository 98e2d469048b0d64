import { link } from './host-evidence.ts'
import type { HostFacts, PciDevice } from './schema.ts'
import { count, identity, known, number, pciAddress } from './text.ts'

/** The files below `/sys/…/<kind>/<name>/`, by name and by their path below it. */
function below(files: Map<string, string>, place: RegExp): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const [path, text] of files) {
    const [, name, rest] = place.exec(path) ?? []
    if (name === undefined || rest === undefined) continue
    const own = found.get(name) ?? new Map<string, string>()
    found.set(name, own.set(rest, text.trim()))
  }
  return found
}

export function disks(files: Map<string, string>): HostFacts['disks'] {
  return [...below(files, /\/sys\/block\/([^/]+)\/(.+)$/)].map(([name, disk]) => {
    const sectors = count(disk.get('size'))
    return {
      name,
      // In sectors of 512 bytes, whatever the disk's own sectors are.
      sizeBytes: sectors === null ? null : sectors * 512,
      rotational: disk.has('queue/rotational') ? disk.get('queue/rotational') === '1' : null,
      model: known(disk.get('device/model')),
      serial: identity(disk.get('device/serial')),
    }
  })
}

export function mounts(system: Record<string, string>): HostFacts['mounts'] {
  const sizes = new Map<string, { device: string; size: number | null; available: number | null }>()
  for (const line of (system.df ?? '').split('\n')) {
    const [, device = '', size, available, path] = /^(.+?)\s+(\d+)\s+\d+\s+(-?\d+)\s+\S+\s+(\/.*)$/.exec(line) ?? []
    if (path)
      sizes.set(path, { device, size: (count(size) ?? 0) * 1024, available: Math.max(0, (number(available) ?? 0) * 1024) })
  }
  const found = new Map<string, HostFacts['mounts'][number]>()
  for (const line of (system.mounts ?? '').split('\n')) {
    const [device, path, type] = line.split(' ')
    if (!device || !path?.startsWith('/')) continue
    const size = sizes.get(path)
    const remote = size === undefined && !device.startsWith('/dev/')
    // Bind mounts of one device fill the list on container hosts: those without a size of their own say nothing new.
    if (size || remote)
      found.set(path, {
        device,
        path,
        type: type ?? null,
        sizeBytes: size?.size ?? null,
        availableBytes: size?.available ?? null,
      })
  }
  for (const [path, size] of sizes)
    if (!found.has(path))
      found.set(path, { device: size.device, path, type: null, sizeBytes: size.size, availableBytes: size.available })
  return [...found.values()]
}

const lastPart = (target: string | undefined) =>
  target
    ?.split('/')
    .filter((part) => part)
    .at(-1) ?? null

export function nics(files: Map<string, string>, links: Map<string, string>, addresses: string): HostFacts['nics'] {
  return [...below(files, /\/sys\/class\/net\/([^/]+)\/(.+)$/)].map(([name, nic]) => ({
    name,
    mac: identity(nic.get('address')),
    state: known(nic.get('operstate')),
    // -1 and 4294967295 both mean that there is no link.
    speedMbps: Number(nic.get('speed')) > 0 && Number(nic.get('speed')) < 4294967295 ? count(nic.get('speed')) : null,
    mtu: count(nic.get('mtu')),
    driver: lastPart(link(links, `/sys/class/net/${name}/device/driver`)),
    pciAddress: pciAddress(lastPart(link(links, `/sys/class/net/${name}/device`))),
    numaNode: count(nic.get('device/numa_node')),
    addresses: addressesOf(addresses)
      .filter((one) => one.name === name)
      .map((one) => one.address),
  }))
}

/** Reads `ip -o addr`: `4: eth0    inet 10.0.0.2/24 brd …`. */
const addressesOf = (text: string) =>
  [...text.matchAll(/^\d+:\s+([^\s@]+)(?:@\S+)?\s+inet6?\s+(\S+)/gm)].map(([, name = '', address = '']) => ({ name, address }))

/** The address of the interface with the default route. */
export function primaryAddress(routes: string, addresses: string): string | null {
  const name = routes
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((row) => row[1] === '00000000' && row[7] === '00000000')?.[0]
  const found = addressesOf(addresses).filter((one) => one.name === name)
  return (found.find((one) => !one.address.includes(':')) ?? found[0])?.address.replace(/\/\d+$/, '') ?? null
}

export function infiniband(files: Map<string, string>, links: Map<string, string>): HostFacts['infiniband'] {
  return [...below(files, /\/sys\/class\/infiniband\/([^/]+)\/(.+)$/)].flatMap(([device, own]) => {
    const ports = [
      ...new Set([...own.keys()].map((path) => /^ports\/(\d+)\//.exec(path)?.[1]).filter((port) => port !== undefined)),
    ]
    // Sysfs prints `4: ACTIVE`: the word says it.
    const word = (port: string, name: string) => known(own.get(`ports/${port}/${name}`)?.replace(/^\d+:\s*/, ''))
    return ports.map((port) => ({
      device,
      port: Number(port),
      state: word(port, 'state'),
      physicalState: word(port, 'phys_state'),
      rate: word(port, 'rate'),
      linkLayer: word(port, 'link_layer'),
      lid: word(port, 'lid'),
      guid: identity(own.get('node_guid')),
      firmware: known(own.get('fw_ver')),
      type: known(own.get('hca_type')),
      pciAddress: pciAddress(lastPart(link(links, `/sys/class/infiniband/${device}/device`))),
      numaNode: count(own.get('device/numa_node')),
    }))
  })
}

export function pci(files: Map<string, string>, links: Map<string, string>): PciDevice[] {
  const bare = (text: string | undefined) => (text ?? '').replace(/^0x/, '').toLowerCase()
  return [...below(files, /\/sys\/bus\/pci\/devices\/([^/]+)\/(.+)$/)].map(([name, own]) => ({
    address: pciAddress(name) ?? name,
    vendorId: bare(own.get('vendor')),
    deviceId: bare(own.get('device')),
    classId: bare(own.get('class')),
    subsystem: own.has('subsystem_vendor') ? `${bare(own.get('subsystem_vendor'))}:${bare(own.get('subsystem_device'))}` : null,
    revision: known(bare(own.get('revision'))),
    driver: lastPart(link(links, `/sys/bus/pci/devices/${name}/driver`)),
    numaNode: count(own.get('numa_node')),
    linkSpeed: known(own.get('current_link_speed')),
    linkWidth: count(own.get('current_link_width')),
  }))
}
