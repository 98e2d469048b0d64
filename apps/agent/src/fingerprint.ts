import { createHash } from 'node:crypto'
import { physicalNics } from './collect/host.ts'
import { listFolder, readText } from './files.ts'

/** Placeholder values of manufacturers that did not set a field. */
const PLACEHOLDER =
  /^(|0+|1+|f+|x+|none|n\/?a|unknown|default( string)?|to be filled.*|not (specified|applicable|available).*|system serial number|0123456789.*)$/i

/**
 * Hash of the machine's identity: serials and UUIDs of its boards, addresses of its network cards. Replaceable parts (disks, memory,
 * accelerators) are excluded. The cluster ID is the salt, so hashes of different clusters cannot be correlated. Null when no identifier
 * is readable (serials require root).
 */
export function hardwareFingerprint(root: string, clusterId: string): string | null {
  const dmi = ['product_uuid', 'product_serial', 'board_serial', 'chassis_serial'].map((name) => [
    name,
    readText(root, `/sys/class/dmi/id/${name}`),
  ])
  const deviceTree = ['serial-number'].map((name) => [
    name,
    readText(root, `/proc/device-tree/${name}`)?.replaceAll('\0', '') ?? null,
  ])
  const macs = physicalNics(root).map((name) => ['mac', hardwareAddress(root, name)])
  const ports = listFolder(root, '/sys/class/infiniband').map((name) => [
    'guid',
    readText(root, `/sys/class/infiniband/${name}/node_guid`),
  ])
  const identifiers = [...dmi, ...deviceTree, ...macs, ...ports]
    .filter(([, value]) => value && !PLACEHOLDER.test(value.replace(/[\s:-]/g, '')) && !PLACEHOLDER.test(value))
    .map(([name, value]) => `${name}=${value!.toLowerCase()}`)
  if (!identifiers.length) return null
  return createHash('sha256')
    .update(['muster fingerprint v1', clusterId, ...[...new Set(identifiers)].sort()].join('\n'))
    .digest('hex')
}

/** Permanent address of a NIC; null for members of a bond, which take the bond's address, and for generated addresses. */
function hardwareAddress(root: string, name: string): string | null {
  const folder = `/sys/class/net/${name}`
  const isPermanent = readText(root, `${folder}/addr_assign_type`) === '0' && !readText(root, `${folder}/master/uevent`)
  return isPermanent ? readText(root, `${folder}/address`) : null
}
