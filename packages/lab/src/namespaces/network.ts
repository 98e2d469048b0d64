import { networkInterfaces } from 'node:os'
import { capture, must } from '../commands.ts'
import type { NodeState } from '../registry.ts'

/** Addresses of a lab's /24: the host is .1, the bastion .2, nodes start at .10; behind the bastion lies the upper half. */
const firstOpen = 10
const firstHidden = 130
const bastionInside = 129

/** Address of the host's end of the lab's cable. */
export const hostAddress = (subnet: number) => `10.77.${subnet}.1`
/** The bastion as nodes behind it see it, in the lab of that host address. */
export const rackAddress = (host: string) => host.replace(/\.\d+$/, `.${bastionInside}`)
export const bastionAddress = (subnet: number) => `10.77.${subnet}.2`

/** Deals addresses to the nodes. Throws when the lab's network is too small for them. */
export function dealAddresses(subnet: number, hidden: boolean[]): string[] {
  let [open, inside] = [firstOpen, firstHidden]
  return hidden.map((isHidden) => {
    const last = isHidden ? inside++ : open++
    if (last > 254 || (!isHidden && last >= bastionInside - 1)) {
      throw new Error('A lab has room for 118 nodes in the open and 125 behind the bastion; use sshFarm for more hosts.')
    }
    return `10.77.${subnet}.${last}`
  })
}

/**
 * Lays the cable between the host and the lab, whose network namespace is that of pid `keeper`, and returns its subnet.
 * The kernel refuses a second link of the same name, which is the lock between labs; and the link vanishes with the
 * lab's namespace, so that a killed lab leaves nothing on the host.
 */
export async function layCable(keeper: number): Promise<{ subnet: number; link: string }> {
  const taken = new Set(
    Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).map(({ address }) => address.split('.', 3).join('.')),
    ),
  )
  const first = Math.floor(Math.random() * 254)
  for (let offset = 0; offset < 254; offset++) {
    const subnet = 1 + ((first + offset) % 254)
    if (taken.has(`10.77.${subnet}`)) continue
    const link = `mlab${subnet}`
    const batch = [
      `link add ${link} type veth peer name up0 netns ${keeper}`,
      `addr add ${hostAddress(subnet)}/24 dev ${link}`,
      `link set ${link} up`,
    ]
    const { code, stderr } = await capture(['ip', '-batch', '-'], `${batch.join('\n')}\n`)
    if (code === 0) return { subnet, link }
    if (!stderr.includes('File exists')) throw new Error(`The lab could not be connected to this machine: ${stderr.trim()}`)
  }
  throw new Error('All 254 lab networks 10.77.1.0/24 to 10.77.254.0/24 are in use. See `lab list` and `lab down ID`.')
}

/** Removes the host's end at once instead of when the kernel comes to it, which may be at the same moment. */
export async function cutCable(link: string): Promise<void> {
  const { code, stderr } = await capture(['ip', 'link', 'del', link])
  if (code !== 0 && !/Cannot find device|No such device/.test(stderr))
    throw new Error(`Link ${link} could not be removed: ${stderr.trim()}`)
}

/** Name of the bridge port that a node hangs on; it lies in the lab's namespace, or in the bastion's for hidden nodes. */
export const portOf = (index: number) => `p${index}`
export const openBridge = 'room0'
export const hiddenBridge = 'rack0'

/** `ip -batch` lines for the lab's own namespace: switch, cable, one network namespace and one port per host. */
export function roomBatch(nodes: NodeState[], bastion: boolean): string {
  const port = (name: string, index: number, hidden: boolean) => [
    `netns add ${name}`,
    `link add ${portOf(index)} ${hidden ? 'netns bastion ' : ''}type veth peer name eth0 netns ${name}`,
    ...(hidden ? [] : [`link set ${portOf(index)} master ${openBridge} up`]),
  ]
  return [
    `link add ${openBridge} type bridge`,
    `link set ${openBridge} up`,
    `link set up0 master ${openBridge} up`,
    'link set lo up',
    ...(bastion ? port('bastion', nodes.length, false) : []),
    ...nodes.flatMap((node, index) => port(node.name, index, node.behindBastion)),
    '',
  ].join('\n')
}

/** `ip -batch` lines that a node runs at every boot, all of them repeatable. */
export function nodeBatch(subnet: number, node: { host: string; behindBastion: boolean }): string {
  const gateway = node.behindBastion ? `10.77.${subnet}.${bastionInside}` : hostAddress(subnet)
  // A hidden node sees only its own half; the host believes that the whole /24 is on the link, and gets no answer.
  return [
    'link set lo up',
    `addr replace ${node.host}/${node.behindBastion ? 25 : 24} dev eth0`,
    'link set eth0 up',
    `route replace default via ${gateway}`,
    '',
  ].join('\n')
}

/** The bastion's boot: its foot in the room, and the rack's switch with the hidden nodes' ports. */
export function bastionBatch(subnet: number, nodes: NodeState[]): string {
  const hidden = nodes.flatMap((node, index) => (node.behindBastion ? [portOf(index)] : []))
  return [
    'link set lo up',
    `addr replace ${bastionAddress(subnet)}/25 dev eth0`,
    'link set eth0 up',
    `route replace default via ${hostAddress(subnet)}`,
    `link add ${hiddenBridge} type bridge`,
    `addr replace 10.77.${subnet}.${bastionInside}/25 dev ${hiddenBridge}`,
    `link set ${hiddenBridge} up`,
    ...hidden.map((port) => `link set ${port} master ${hiddenBridge} up`),
    '',
  ].join('\n')
}

/** Runs `ip` inside the lab's namespaces (or in a named one of them) from the outside. */
export function labIp(keeper: number, netns: string | null, args: string[]): Promise<string> {
  const where = netns ? ['-n', netns] : []
  return must(['nsenter', '--target', String(keeper), '--mount', '--net', 'ip', ...where, ...args])
}
