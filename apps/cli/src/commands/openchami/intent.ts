import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { fetchAll } from '../../pages.ts'
import { keys, type Objects } from './objects.ts'

const NODES = graphql(`query OpenchamiNodes($first: Int, $after: String) {
  nodes(filter: { status: [NEW, READY, UNREACHABLE, MAINTENANCE] }, first: $first, after: $after) {
    edges { node {
      xname nid nodeType
      interfaces { mac addresses { address } }
      groups { name displayName description exclusiveSet }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const BOOT = graphql(`query OpenchamiBoot($first: Int, $after: String) {
  nodes(filter: { status: [NEW, READY, UNREACHABLE, MAINTENANCE] }, first: $first, after: $after) {
    edges { node { xname effectiveBootProfile { resolved { kernel { url } initrds { url } kernelParams } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

const ROLES: Record<string, string> = {
  COMPUTE: 'Compute',
  LOGIN: 'Application',
  CONTROLLER: 'Management',
  STORAGE: 'Storage',
  OTHER: 'Service',
}

/** Nodes with an xname, their interfaces and groups, as SMD has them. */
export async function readInventory(): Promise<Objects> {
  const nodes = await fetchAll(async (page) => (await request(NODES, page)).nodes)
  const objects: Objects = new Map()
  for (const { xname, nid, nodeType, interfaces, groups } of nodes) {
    if (xname === null) continue
    objects.set(keys.component(xname), { NID: nid, Role: ROLES[nodeType]! })
    // SMD has no InfiniBand interfaces, which have addresses of 20 bytes.
    for (const { mac, addresses } of interfaces.filter((each) => each.mac.length === '02:00:5e:10:00:ff'.length))
      objects.set(keys.interface(mac), { ComponentID: xname, IPAddresses: addresses.map(({ address }) => address) })
    for (const { name, displayName, description, exclusiveSet } of groups) {
      // The label that the group was created with in OpenCHAMI's terms, or its name.
      const label = displayName?.replace(/[^A-Za-z0-9_]/g, '_') === name ? displayName : name
      const group = objects.get(keys.group(label)) ?? { description, exclusiveGroup: exclusiveSet || null, members: [] }
      objects.set(keys.group(label), { ...group, members: [...(group.members as string[]), xname] })
    }
  }
  return objects
}

/** Kernel, initrd and parameters of each node with a boot profile, as BSS has them, which knows one initrd. */
export async function readBootParameters(): Promise<Objects> {
  const nodes = await fetchAll(async (page) => (await request(BOOT, page)).nodes)
  const objects: Objects = new Map()
  for (const { xname, effectiveBootProfile } of nodes) {
    if (xname === null) continue
    const { kernel, initrds, kernelParams } = effectiveBootProfile.resolved ?? {}
    if (kernel)
      objects.set(keys.boot(xname), {
        kernel: kernel.url,
        initrd: initrds?.[0]?.url ?? null,
        params: (kernelParams ?? []).join(' ') || null,
      })
  }
  return objects
}
