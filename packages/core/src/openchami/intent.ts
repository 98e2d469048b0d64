import { effectiveBootProfiles } from '../boot-profiles/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { parseMac } from '../nodes/network/index.ts'
import { keys, type Objects } from './objects.ts'
import { openchamiPermissions } from './permissions.ts'
import { readComponentGroups, readComponents } from './queries.ts'
import { ROLES } from './roles.ts'

/** Nodes with an xname, their interfaces, and all groups, as SMD has them. */
export async function readInventoryIntent(ctx: Ctx): Promise<Objects> {
  authorize(ctx, openchamiPermissions.report)
  const objects: Objects = new Map()
  for (const { xname, nid, nodeType, interfaces } of await readComponents(ctx)) {
    objects.set(keys.component(xname), { NID: nid, Role: ROLES[nodeType] })
    // SMD has no InfiniBand interfaces, which have addresses of 20 bytes.
    for (const { mac, addresses } of interfaces.filter((each) => parseMac(each.mac)))
      objects.set(keys.interface(mac), { ComponentID: xname, IPAddresses: addresses.map(({ address }) => address) })
  }
  for (const { label, group, xnames } of await readComponentGroups(ctx))
    objects.set(keys.group(label), {
      description: group.description,
      exclusiveGroup: group.exclusiveSet || null,
      members: xnames,
    })
  return objects
}

/** Kernel, initrd and parameters of each node with a boot profile, as BSS has them, which knows one initrd. */
export async function readBootIntent(ctx: Ctx): Promise<Objects> {
  authorize(ctx, openchamiPermissions.report)
  const components = await readComponents(ctx)
  const effective = await effectiveBootProfiles(
    ctx,
    components.map(({ id }) => id),
  )
  return new Map(
    components.flatMap(({ id, xname }) => {
      const profile = effective.get(id)?.profile
      if (!profile?.kernel) return []
      const { kernel, initrds, kernelParams } = profile
      const params = kernelParams.map(({ value }) => value).join(' ')
      const fields = { kernel: kernel.value.url, initrd: initrds?.value[0]?.url ?? null, params: params || null }
      return [[keys.boot(xname), fields] as const]
    }),
  )
}
