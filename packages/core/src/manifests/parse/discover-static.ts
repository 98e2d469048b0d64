// Input of `ochami discover static`: https://github.com/OpenCHAMI/ochami/blob/main/man/ochami-discover.1.sc

type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Whether a document without apiVersion is the input of `ochami discover static`. */
export const isDiscoverStatic = (value: unknown): value is Json =>
  isObject(value) && Array.isArray(value.nodes) && !('apiVersion' in value) && !('kind' in value)

/** An object of the file; `from` is the path of what it was made of, and `paths` that of its fields. */
export type Converted = { kind: string; name: unknown; spec: Json; from: string; paths: Record<string, string> }

/**
 * Nodes and their groups of a file for `ochami discover static`. A node's address is the first one of its interfaces; it boots from the
 * first interface. BMCs are not converted, because the file has no credentials for them.
 */
export function convertDiscoverStatic(document: Json): { objects: Converted[]; warnings: string[] } {
  const members = new Map<string, string[]>()
  const objects = list(document.nodes).map((node, i): Converted => {
    const from = `nodes.${i}`
    const { name, nid, xname, groups, group, interfaces } = isObject(node) ? node : ({} as Json)
    for (const each of new Set([...list(groups), ...(group ? [group] : [])].map(String)))
      members.set(each, [...(members.get(each) ?? []), String(name)])
    const wired = list(interfaces).map((one, n) => {
      const { mac_addr: mac, ip_addrs: ips } = isObject(one) ? one : ({} as Json)
      const addresses = list(ips).map((ip) => {
        const { ip_addr: address, name: network } = isObject(ip) ? ip : ({} as Json)
        return { address, ...(network ? { network } : {}) }
      })
      return { name: `if${n}`, mac, ...(n === 0 ? { isBoot: true } : {}), ...(addresses.length > 0 ? { addresses } : {}) }
    })
    const host = wired.flatMap(({ addresses }) => addresses ?? [])[0]?.address
    return {
      kind: 'ComputeNode',
      name,
      spec: { host, ...(nid === undefined ? {} : { nid }), ...(xname === undefined ? {} : { xname }), interfaces: wired },
      from,
      paths: { host: `${from}.interfaces` },
    }
  })
  const groups = [...members].map(([name, nodes]): Converted => {
    // Names of groups are names of variables in Ansible.
    const spec = { members: nodes }
    return { kind: 'NodeGroup', name: name.replace(/[^A-Za-z0-9_]/g, '_'), spec, from: 'nodes', paths: {} }
  })
  const bmcs = list(document.bmcs).length
  const warnings =
    bmcs > 0 ? [`${bmcs} BMCs are not applied: the file has no credential for them. Set \`bmc\` in a manifest of each node.`] : []
  return { objects: [...groups, ...objects], warnings }
}
