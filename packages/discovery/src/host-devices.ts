import { findLink } from './host-evidence.ts'
import type { Accelerator, HostFacts, PciDevice } from './schema.ts'
import { parseBytes, parseCount, parseIdentity, parseNumber, parsePciAddress, parseText } from './text.ts'

/** Groups files below `/sys/…/<kind>/<name>/` by name and relative path. */
function groupByDevice(files: Map<string, string>, place: RegExp): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>()
  for (const [path, text] of files) {
    const [, name, rest] = place.exec(path) ?? []
    if (name === undefined || rest === undefined) continue
    const own = found.get(name) ?? new Map<string, string>()
    found.set(name, own.set(rest, text.trim()))
  }
  return found
}

export function parseDisks(files: Map<string, string>): HostFacts['disks'] {
  return [...groupByDevice(files, /\/sys\/block\/([^/]+)\/(.+)$/)].map(([name, disk]) => {
    const sectors = parseCount(disk.get('size'))
    return {
      name,
      // In units of 512 bytes, independent of the sector size of the disk.
      sizeBytes: sectors === null ? null : sectors * 512,
      rotational: disk.has('queue/rotational') ? disk.get('queue/rotational') === '1' : null,
      model: parseText(disk.get('device/model')),
      serial: parseIdentity(disk.get('device/serial')),
    }
  })
}

export function parseMounts(system: Record<string, string>): HostFacts['mounts'] {
  const sizes = new Map<string, { device: string; size: number | null; available: number | null }>()
  for (const line of (system.df ?? '').split('\n')) {
    const [, device = '', size, available, path] = /^(.+?)\s+(\d+)\s+\d+\s+(-?\d+)\s+\S+\s+(\/.*)$/.exec(line) ?? []
    if (path)
      sizes.set(path, {
        device,
        size: (parseCount(size) ?? 0) * 1024,
        available: Math.max(0, (parseNumber(available) ?? 0) * 1024),
      })
  }
  const found = new Map<string, HostFacts['mounts'][number]>()
  for (const line of (system.mounts ?? '').split('\n')) {
    const [device, path, type] = line.split(' ')
    if (!device || !path?.startsWith('/')) continue
    const size = sizes.get(path)
    const remote = size === undefined && !device.startsWith('/dev/')
    // Container hosts have many bind mounts of one device; those without a size are redundant.
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

const lastPathComponent = (target: string | undefined) =>
  target
    ?.split('/')
    .filter((part) => part)
    .at(-1) ?? null

export function parseNics(files: Map<string, string>, links: Map<string, string>, addresses: string): HostFacts['nics'] {
  return [...groupByDevice(files, /\/sys\/class\/net\/([^/]+)\/(.+)$/)].map(([name, nic]) => ({
    name,
    mac: parseIdentity(nic.get('address')),
    state: parseText(nic.get('operstate')),
    // -1 and 4294967295 mean no link.
    speedMbps: Number(nic.get('speed')) > 0 && Number(nic.get('speed')) < 4294967295 ? parseCount(nic.get('speed')) : null,
    mtu: parseCount(nic.get('mtu')),
    driver: lastPathComponent(findLink(links, `/sys/class/net/${name}/device/driver`)),
    pciAddress: parsePciAddress(lastPathComponent(findLink(links, `/sys/class/net/${name}/device`))),
    numaNode: parseCount(nic.get('device/numa_node')),
    addresses: parseAddresses(addresses)
      .filter((one) => one.name === name)
      .map((one) => one.address),
  }))
}

/** Parses `ip -o addr`: `4: eth0    inet 10.0.0.2/24 brd …`. */
const parseAddresses = (text: string) =>
  [...text.matchAll(/^\d+:\s+([^\s@]+)(?:@\S+)?\s+inet6?\s+(\S+)/gm)].map(([, name = '', address = '']) => ({ name, address }))

/** Address of the interface with the default route. */
export function parsePrimaryAddress(routes: string, addresses: string): string | null {
  const name = routes
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((row) => row[1] === '00000000' && row[7] === '00000000')?.[0]
  const found = parseAddresses(addresses).filter((one) => one.name === name)
  return (found.find((one) => !one.address.includes(':')) ?? found[0])?.address.replace(/\/\d+$/, '') ?? null
}

export function parseInfiniband(files: Map<string, string>, links: Map<string, string>): HostFacts['infiniband'] {
  return [...groupByDevice(files, /\/sys\/class\/infiniband\/([^/]+)\/(.+)$/)].flatMap(([device, own]) => {
    const ports = [
      ...new Set([...own.keys()].map((path) => /^ports\/(\d+)\//.exec(path)?.[1]).filter((port) => port !== undefined)),
    ]
    // sysfs prints `4: ACTIVE`.
    const word = (port: string, name: string) => parseText(own.get(`ports/${port}/${name}`)?.replace(/^\d+:\s*/, ''))
    return ports.map((port) => ({
      device,
      port: Number(port),
      state: word(port, 'state'),
      physicalState: word(port, 'phys_state'),
      rate: word(port, 'rate'),
      linkLayer: word(port, 'link_layer'),
      lid: word(port, 'lid'),
      guid: parseIdentity(own.get('node_guid')),
      firmware: parseText(own.get('fw_ver')),
      type: parseText(own.get('hca_type')),
      pciAddress: parsePciAddress(lastPathComponent(findLink(links, `/sys/class/infiniband/${device}/device`))),
      numaNode: parseCount(own.get('device/numa_node')),
    }))
  })
}

/** A line of /proc/driver/nvidia/gpus/ADDRESS/information, such as `Device Minor: \t 0`. */
const nvidiaInformation = (files: Map<string, string>, address: string, label: string): string | undefined => {
  const text = [...files].find(([path]) => path.endsWith(`/nvidia/gpus/${address}/information`))?.[1]
  return new RegExp(`^${label}:\\s*(\\S+)`, 'm').exec(text ?? '')?.[1]
}

export function parsePci(files: Map<string, string>, links: Map<string, string>): PciDevice[] {
  const bare = (text: string | undefined) => (text ?? '').replace(/^0x/, '').toLowerCase()
  return [...groupByDevice(files, /\/sys\/bus\/pci\/devices\/([^/]+)\/(.+)$/)].map(([name, own]) => ({
    address: parsePciAddress(name) ?? name,
    vendorId: bare(own.get('vendor')),
    deviceId: bare(own.get('device')),
    classId: bare(own.get('class')),
    subsystem: own.has('subsystem_vendor') ? `${bare(own.get('subsystem_vendor'))}:${bare(own.get('subsystem_device'))}` : null,
    revision: parseText(bare(own.get('revision'))),
    driver: lastPathComponent(findLink(links, `/sys/bus/pci/devices/${name}/driver`)),
    numaNode: parseCount(own.get('numa_node')),
    deviceMinor: parseCount(nvidiaInformation(files, name, 'Device Minor')),
    linkSpeed: parseText(own.get('current_link_speed')),
    linkWidth: parseCount(own.get('current_link_width')),
  }))
}

/**
 * What the amdgpu driver reports in sysfs about a device, for nodes without a tool of AMD: memory in bytes, the unique ID in hexadecimal,
 * and the partition modes. An in-tree driver has no version of its own; its version is that of the kernel.
 */
export function readAmdSysfs(files: Map<string, string>, address: string, host: HostFacts): Partial<Accelerator> {
  const get = (name: string) => [...files].find(([path]) => path.endsWith(`/devices/${address}/${name}`))?.[1].trim()
  const modes = ['compute', 'memory'].map((kind) => parseText(get(`current_${kind}_partition`))).filter((mode) => mode !== null)
  return {
    uuid: parseIdentity(get('unique_id')),
    memoryTotal: parseBytes(get('mem_info_vram_total'), 'B'),
    memoryUsed: parseBytes(get('mem_info_vram_used'), 'B'),
    partitionMode: modes.join('/') || null,
    driverVersion: host.toolkits['amdgpu driver'] ?? null,
  }
}
