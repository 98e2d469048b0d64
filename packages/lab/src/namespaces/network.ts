import { networkInterfaces } from 'node:os'
import { capture, runChecked } from '../commands.ts'
import type { NodeState } from '../registry.ts'

/** Addresses in a lab's /24: the host is .1, the bastion .2, nodes start at .10; nodes behind the bastion use the upper half. */
const firstOpen = 10
const firstHidden = 130
const bastionInside = 129

/** Address of the host's end of the lab's link. */
export const hostAddress = (subnet: number) => `10.77.${subnet}.1`
/** Address of the bastion for the nodes behind it, in the lab with that host address. */
export const rackAddress = (host: string) => host.replace(/\.\d+$/, `.${bastionInside}`)
export const bastionAddress = (subnet: number) => `10.77.${subnet}.2`

/** Assigns addresses to the nodes. Throws when there are more nodes than addresses. */
export function assignAddresses(subnet: number, hidden: boolean[]): string[] {
  let [open, inside] = [firstOpen, firstHidden]
  return hidden.map((isHidden) => {
    const last = isHidden ? inside++ : open++
    if (last > 254 || (!isHidden && last >= bastionInside - 1)) {
      throw new Error('A lab supports 118 directly reachable nodes and 125 behind the bastion; use startSshFarm for more hosts.')
    }
    return `10.77.${subnet}.${last}`
  })
}

/**
 * Creates a veth link between the host and the lab's network namespace, which is that of pid `supervisor`, and returns its subnet:
 * the preferred one if it is free.
 * The unique link name is the lock between labs. The kernel deletes the link with the namespace of a killed lab.
 */
export async function createLink(supervisor: number, preferred: number | null): Promise<{ subnet: number; link: string }> {
  const taken = new Set(
    Object.values(networkInterfaces()).flatMap((addresses) =>
      (addresses ?? []).map(({ address }) => address.split('.', 3).join('.')),
    ),
  )
  const first = preferred === null ? Math.floor(Math.random() * 254) : preferred - 1
  for (let offset = 0; offset < 254; offset++) {
    const subnet = 1 + ((first + offset) % 254)
    if (taken.has(`10.77.${subnet}`)) continue
    const link = `mlab${subnet}`
    const batch = [
      `link add ${link} type veth peer name up0 netns ${supervisor}`,
      `addr add ${hostAddress(subnet)}/24 dev ${link}`,
      `link set ${link} up`,
    ]
    const { code, stderr } = await capture(['ip', '-batch', '-'], `${batch.join('\n')}\n`)
    if (code === 0) return { subnet, link }
    if (!stderr.includes('File exists')) throw new Error(`Creating the lab's network link failed: ${stderr.trim()}`)
  }
  throw new Error('All 254 lab networks 10.77.1.0/24 to 10.77.254.0/24 are in use. See `lab list` and `lab down ID`.')
}

/** Deletes the link immediately. The kernel may delete it concurrently, which is not an error. */
export async function deleteLink(link: string): Promise<void> {
  const { code, stderr } = await capture(['ip', 'link', 'del', link])
  if (code !== 0 && !/Cannot find device|No such device/.test(stderr))
    throw new Error(`Deleting the link ${link} failed: ${stderr.trim()}`)
}

/** Name of a node's bridge port. It is in the lab's namespace, or in the bastion's for nodes behind the bastion. */
export const portOf = (index: number) => `p${index}`
export const openBridge = 'lab0'
export const hiddenBridge = 'rack0'

/** `ip -batch` lines for the lab's namespace: the bridge, and a network namespace and bridge port per host. */
export function labBatch(nodes: NodeState[], bastion: boolean): string {
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

/** `ip -batch` lines that a node runs at every boot; all are idempotent. */
export function nodeBatch(subnet: number, node: { host: string; behindBastion: boolean }): string {
  const gateway = node.behindBastion ? `10.77.${subnet}.${bastionInside}` : hostAddress(subnet)
  // Nodes behind the bastion use a /25, so packets from the host, which uses the /24, get no answer.
  return [
    'link set lo up',
    `addr replace ${node.host}/${node.behindBastion ? 25 : 24} dev eth0`,
    'link set eth0 up',
    `route replace default via ${gateway}`,
    '',
  ].join('\n')
}

/** `ip -batch` lines of the bastion: its interface in the lab's network, and the bridge for the nodes behind it. */
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

/** Runs `ip` in the lab's network namespace, or in a named one of its hosts. */
export function labIp(supervisor: number, netns: string | null, args: string[]): Promise<string> {
  const namespace = netns ? ['-n', netns] : []
  return runChecked(['nsenter', '--target', String(supervisor), '--mount', '--net', 'ip', ...namespace, ...args])
}
