import { createHash } from 'node:crypto'
import { physicalNics } from './collect/host.ts'
import { names, text } from './files.ts'

/** What makers leave in a field that they did not fill in. */
const PLACEHOLDER =
  /^(|0+|1+|f+|x+|none|n\/?a|unknown|default( string)?|to be filled.*|not (specified|applicable|available).*|system serial number|0123456789.*)$/i

/**
 * A hash that stays while the machine does: over the serials and UUID of its boards and the addresses of its network cards. Disks, memory
 * and accelerators are not in it, since they are exchanged. The cluster is the salt, so that hashes of two clusters cannot be compared.
 * Null where the machine tells nothing of itself (serials are for root only).
 */
export function fingerprint(root: string, clusterId: string): string | null {
  const dmi = ['product_uuid', 'product_serial', 'board_serial', 'chassis_serial'].map((name) => [
    name,
    text(root, `/sys/class/dmi/id/${name}`),
  ])
  const tree = ['serial-number'].map((name) => [name, text(root, `/proc/device-tree/${name}`)?.replaceAll('\0', '') ?? null])
  const macs = physicalNics(root).map((name) => ['mac', hardwareAddress(root, name)])
  const ports = names(root, '/sys/class/infiniband').map((name) => [
    'guid',
    text(root, `/sys/class/infiniband/${name}/node_guid`),
  ])
  const parts = [...dmi, ...tree, ...macs, ...ports]
    .filter(([, value]) => value && !PLACEHOLDER.test(value.replace(/[\s:-]/g, '')) && !PLACEHOLDER.test(value))
    .map(([name, value]) => `${name}=${value!.toLowerCase()}`)
  if (!parts.length) return null
  return createHash('sha256')
    .update(['muster fingerprint v1', clusterId, ...[...new Set(parts)].sort()].join('\n'))
    .digest('hex')
}

/** Addresses that were given, not made (a bond gives its members another); null for those and where there is none. */
function hardwareAddress(root: string, name: string): string | null {
  const at = `/sys/class/net/${name}`
  const isOwn = text(root, `${at}/addr_assign_type`) === '0' && !text(root, `${at}/master/uevent`)
  return isOwn ? text(root, `${at}/address`) : null
}
