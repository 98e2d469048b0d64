import type { Frame } from './frames.ts'
import type { HostFacts, PciDevice } from './schema.ts'
import { count, identity, known, linesOf, number, pciAddress, plain } from './text.ts'

/** Files by path (their lines joined), links by path, and the other frames by name. */
interface Evidence {
  files: Map<string, string>
  links: Map<string, string>
  frame: (name: string) => string
}

/** Reads the `path:line` of grep and the `path -> target` of ls. */
function evidence(frames: Frame[]): Evidence {
  const frame = (name: string) => plain(frames.find((one) => one.name === name)?.body ?? '')
  const files = new Map<string, string[]>()
  for (const line of linesOf(frame('files'))) {
    // A PCI address in the path holds `:` too; no other part of a path does.
    const [, path, text] = /^(\/[^:]*?(?:[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7][^:]*)?):(.*)$/i.exec(line) ?? []
    if (path !== undefined && text !== undefined) files.set(path, [...(files.get(path) ?? []), text])
  }
  const links = new Map<string, string>()
  for (const line of linesOf(frame('links'))) {
    const [, path, target = ''] = / (\/\S+)(?: -> (\S+))?\s*$/.exec(line) ?? []
    if (path) links.set(path, target)
  }
  return { files: new Map([...files].map(([path, lines]) => [path, lines.join('\n')])), links, frame }
}

/** Facts of the host out of the probe's frames. Each is null where the node did not tell. */
export function parseHost(frames: Frame[]): HostFacts {
  const { files, links, frame } = evidence(frames)
  const file = (path: string) => files.get(path)?.trim() || null
  const system = sections(frames.find((one) => one.name === 'tool system')?.body ?? '')
  const os = pairs(files.get('/etc/os-release') ?? files.get('/usr/lib/os-release') ?? '')
  const hostname = file('/proc/sys/kernel/hostname')
  const dmi = (name: string) => known(byEnd(files, `/sys/class/dmi/id/${name}`))
  const vendor = dmi('sys_vendor')
  const product = dmi('product_name')
  const memory = (label: string) => {
    const kib = count(new RegExp(`^${label}:\\s*(\\d+)`, 'm').exec(frame('meminfo'))?.[1])
    return kib === null ? null : kib * 1024
  }
  const [pythonPath = null, pythonVersion = null] = /^(\S+) Python (\d[\w.]*)/m.exec(system.python ?? '')?.slice(1) ?? []
  const arch = file('/proc/sys/kernel/arch') ?? (frame('uname').trim() || null)
  return {
    hostname,
    fqdn: fqdn(hostname, system.hosts ?? ''),
    arch,
    os: { id: os.ID ?? null, versionId: os.VERSION_ID ?? null, name: os.PRETTY_NAME ?? os.NAME ?? null, family: family(os) },
    kernel: file('/proc/sys/kernel/osrelease'),
    machineId: file('/etc/machine-id'),
    bootId: file('/proc/sys/kernel/random/boot_id'),
    uptimeSeconds: number(file('/proc/uptime')?.split(' ')[0]),
    cpu: cpu(frame('cpuinfo'), files),
    memoryBytes: memory('MemTotal'),
    swapBytes: memory('SwapTotal'),
    numaNodes: [...files.keys()].filter((path) => /\/node\/node\d+\/cpulist$/.test(path)).length || null,
    disks: disks(files),
    mounts: mounts(system),
    nics: nics(files, links, system.addresses ?? ''),
    primaryAddress: primaryAddress(files.get('/proc/net/route') ?? '', system.addresses ?? ''),
    infiniband: infiniband(files, links),
    pci: pci(files, links),
    python: { path: pythonPath, version: pythonVersion },
    dmi: {
      vendor,
      product,
      serial: identity(dmi('product_serial')) ?? identity(dmi('chassis_serial')),
      uuid: identity(dmi('product_uuid')),
      board: [dmi('board_vendor'), dmi('board_name')].filter((part) => part !== null).join(' ') || null,
      bios: [dmi('bios_version'), dmi('bios_date')].filter((part) => part !== null).join(' ') || null,
    },
    virtualization: virtualization(files, links, `${vendor ?? ''} ${product ?? ''}`),
    toolkits: toolkits(files, links, system.nvcc ?? ''),
  }
}

/** The parts of the frame `tool system`, each begun by `@name`. */
function sections(body: string): Record<string, string> {
  const found: Record<string, string> = {}
  let name = ''
  for (const line of linesOf(body)) {
    const mark = /^@([a-z]+)$/.exec(line)
    if (mark) name = mark[1] ?? ''
    else if (name) found[name] = `${found[name] ?? ''}${line}\n`
  }
  return found
}

/** `KEY=value` lines with shell quotes, as in os-release and version.info. */
function pairs(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, key = '', value = ''] of text.matchAll(/^[ \t]*([A-Za-z_]\w*)=(.*)$/gm))
    found[key] = value.trim().replace(/^(['"])(.*)\1$/, '$2')
  return found
}

const byEnd = (files: Map<string, string>, end: string) => [...files].find(([path]) => path.endsWith(end))?.[1].trim() ?? null

function family(os: Record<string, string>): string | null {
  const ids = `${os.ID ?? ''} ${os.ID_LIKE ?? ''}`.toLowerCase()
  if (/debian|ubuntu/.test(ids)) return 'debian'
  if (/rhel|fedora|centos|rocky|almalinux|openeuler|anolis|alinux|kylin|amzn/.test(ids)) return 'redhat'
  if (/suse|sles/.test(ids)) return 'suse'
  return os.ID?.toLowerCase() ?? null
}

/** The full name as /etc/hosts gives it, which asks no name server. */
function fqdn(hostname: string | null, hosts: string): string | null {
  if (!hostname || hostname.includes('.')) return hostname
  const names = hosts
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().split(/\s+/).slice(1))
    .filter((row) => row.includes(hostname))
    .flat()
  return (
    names.find((name) => name.startsWith(`${hostname}.`)) ??
    names.find((name) => name.includes('.') && !name.startsWith('localhost')) ??
    hostname
  )
}

/** How many numbers a list like `0-3,8` names. */
const listed = (text: string | null): number | null => {
  const parts = (text ?? '').split(',').map((part) => /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()))
  if (parts.some((part) => part === null)) return null
  return parts.reduce((sum, part) => sum + Math.max(0, Number(part?.[2] ?? part?.[1]) - Number(part?.[1]) + 1), 0)
}

/** Arm processors do not tell their name, only who made which part. */
const ARM_PARTS: Record<string, string> = {
  '0x41/0xd0c': 'Neoverse-N1',
  '0x41/0xd40': 'Neoverse-V1',
  '0x41/0xd49': 'Neoverse-N2',
  '0x41/0xd4f': 'Neoverse-V2',
  '0x41/0xd84': 'Neoverse-V3',
  '0x41/0xd08': 'Cortex-A72',
  '0x41/0xd0b': 'Cortex-A76',
  '0x48/0xd01': 'Kunpeng-920',
  '0x48/0xd02': 'Kunpeng-920 V200',
  '0xc0/0xac3': 'Ampere-1',
  '0xc0/0xac4': 'Ampere-1a',
  '0x70/0x663': 'FT-2500',
  '0x46/0x001': 'A64FX',
}

function cpu(text: string, files: Map<string, string>): HostFacts['cpu'] {
  const get = (label: string) => new RegExp(`^${label}\\s*:\\s*(.+)$`, 'mi').exec(text)?.[1]?.trim() ?? null
  const base = [...files.keys()].find((path) => path.endsWith('/cpu/online'))?.replace(/online$/, '') ?? ''
  const file = (path: string) => files.get(base + path)?.trim() ?? null
  const threads = listed(file('online'))
  const perSocket = listed(file('cpu0/topology/core_siblings_list')) ?? count(get('siblings'))
  const perCore = listed(file('cpu0/topology/thread_siblings_list'))
  const sockets = threads && perSocket ? Math.max(1, Math.round(threads / perSocket)) : null
  const coresPerSocket = count(get('cpu cores'))
  const arm = `${get('CPU implementer')}/${get('CPU part')}`
  return {
    model:
      get('model name') ??
      get('Hardware') ??
      ARM_PARTS[arm] ??
      (get('CPU part') ? `arm ${arm}` : (get('cpu model') ?? get('uarch'))),
    sockets,
    cores: sockets && coresPerSocket ? sockets * coresPerSocket : threads && perCore ? Math.round(threads / perCore) : null,
    threads,
  }
}

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

function disks(files: Map<string, string>): HostFacts['disks'] {
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

function mounts(system: Record<string, string>): HostFacts['mounts'] {
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

/** The link whose path ends so, whatever the root before it. */
const link = (links: Map<string, string>, end: string) => [...links].find(([path]) => path.endsWith(end))?.[1]

function nics(files: Map<string, string>, links: Map<string, string>, addresses: string): HostFacts['nics'] {
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
function primaryAddress(routes: string, addresses: string): string | null {
  const name = routes
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((row) => row[1] === '00000000' && row[7] === '00000000')?.[0]
  const found = addressesOf(addresses).filter((one) => one.name === name)
  return (found.find((one) => !one.address.includes(':')) ?? found[0])?.address.replace(/\/\d+$/, '') ?? null
}

function infiniband(files: Map<string, string>, links: Map<string, string>): HostFacts['infiniband'] {
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

function pci(files: Map<string, string>, links: Map<string, string>): PciDevice[] {
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

/** Product names of hypervisors, as DMI prints them. */
const HYPERVISORS: [RegExp, string][] = [
  [/vmware/i, 'vmware'],
  [/virtualbox/i, 'virtualbox'],
  [/microsoft corporation virtual/i, 'hyperv'],
  [/\bxen\b/i, 'xen'],
  [/amazon ec2(?!.*metal)/i, 'kvm'],
  [/google compute engine/i, 'kvm'],
  [/alibaba cloud ecs/i, 'kvm'],
  [/kvm|qemu|openstack|bochs|red hat|nutanix ahv/i, 'kvm'],
]

function virtualization(files: Map<string, string>, links: Map<string, string>, product: string): string | null {
  const container = files.get('/run/systemd/container')?.trim()
  if (container) return container
  if (link(links, '/.dockerenv') !== undefined || link(links, '/run/.containerenv') !== undefined) return 'container'
  return (
    HYPERVISORS.find(([pattern]) => pattern.test(product))?.[1] ??
    (files.has('/sys/hypervisor/type') ? (files.get('/sys/hypervisor/type')?.trim() ?? null) : null)
  )
}

/** Versions of toolkits and kernel drivers, as installed on the node. */
function toolkits(files: Map<string, string>, links: Map<string, string>, nvcc: string): Record<string, string> {
  const found: Record<string, string> = {}
  const put = (name: string, version: string | null | undefined) => {
    if (version && !found[name]) found[name] = version
  }
  const match = (end: RegExp) => [...files].filter(([path]) => end.test(path)).map(([, text]) => text)
  for (const text of match(/\/usr\/local\/cuda[^/]*\/version\.json$/))
    put('cuda', /"cuda"\s*:\s*\{[^}]*"version"\s*:\s*"([\d.]+)"/.exec(text)?.[1])
  for (const text of match(/\/usr\/local\/cuda\/version\.txt$/)) put('cuda', /CUDA Version ([\d.]+)/.exec(text)?.[1])
  put('cuda', /release ([\d.]+)/.exec(nvcc)?.[1])
  for (const text of match(/\/opt\/rocm[^/]*\/\.info\/version$/)) put('rocm', /^(\d[\d.]*)/.exec(text.trim())?.[1])
  for (const text of match(/ascend_toolkit_install\.info$/)) put('cann', pairs(text).version)
  for (const text of match(/Ascend\/driver\/version\.info$/)) put('ascend driver', pairs(text).Version)
  for (const text of match(/Ascend\/firmware\/version\.info$/)) put('ascend firmware', pairs(text).Version)
  for (const text of match(/\/PPU_SDK\/(version|VERSION)(\.\w+)?$/)) put('sail sdk', /\d+\.\d[\w.-]*/.exec(text)?.[0])
  put(
    'oneapi',
    /\d+(\.\d+)+/.exec(link(links, '/opt/intel/oneapi/compiler/latest') ?? link(links, '/opt/intel/oneapi/latest') ?? '')?.[0],
  )
  put(
    'nvidia driver',
    match(/\/proc\/driver\/nvidia\/version$/)
      .map((text) => /Kernel Module(?: for \S+)?\s+(\d[\d.]+)/.exec(text)?.[1])
      .find((version) => version),
  )
  for (const [path, text] of files) {
    const driver = /\/sys\/module\/(nvidia|amdgpu|i915|xe|alixpu|mlx5_core)\/version$/.exec(path)?.[1]
    if (driver) put(`${driver} driver`, text.trim())
  }
  return found
}

/** What the NVIDIA driver tells through /proc even where its library is broken: model, uuid and firmware by PCI address. */
export function procNvidia(frames: Frame[]): Map<string, { model: string | null; uuid: string | null; firmware: string | null }> {
  const found = new Map<string, { model: string | null; uuid: string | null; firmware: string | null }>()
  for (const [path, text] of evidence(frames).files) {
    const address = pciAddress(/\/proc\/driver\/nvidia\/gpus\/([^/]+)\/information$/.exec(path)?.[1])
    if (!address) continue
    const get = (label: string) => known(new RegExp(`^${label}:\\s*(.*)$`, 'm').exec(text)?.[1])
    const uuid = identity(get('GPU UUID'))
    const firmware = get('Video BIOS')
    found.set(address, {
      model: get('Model'),
      uuid: uuid?.includes('?') ? null : uuid,
      firmware: firmware?.includes('?') ? null : firmware,
    })
  }
  return found
}
