import { and, eq, like } from 'drizzle-orm'
import { z } from 'zod'
import { bootAssignments, bootProfilePermissions, bootProfiles } from '../../boot-profiles/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { isStored, splitParams } from './format.ts'
import { distinctPlaces, findPlaces, type Place } from './places.ts'
import { BootParameterNames, BootParameterTexts } from './put-boot-parameters.ts'
import { findStored, lockBootParameters, release, type Stored } from './stored.ts'

export const RemoveBootParametersInput = z.object({ ...BootParameterNames, ...BootParameterTexts })

/**
 * Removes the boot parameters of these hosts; without hosts, those with this kernel, initrd and parameters.
 * @throws InvalidInput; NotFound a host, or one without boot parameters; Conflict: see `findStored`
 */
export async function removeBootParameters(ctx: Ctx, input: z.input<typeof RemoveBootParametersInput>): Promise<void> {
  authorize(ctx, bootProfilePermissions.write)
  const { hosts, macs, nids, kernel, initrd, params } = parseInput(RemoveBootParametersInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    await lockBootParameters(tx, ctx)
    if (hosts.length + macs.length + nids.length > 0) {
      const places = distinctPlaces(await findPlaces(tx, ctx, { hosts, macs, nids }))
      const stored = await findStored(tx, ctx, places)
      const missing = places.find((place) => !stored.some((each) => each.place === place))
      if (missing) throw new NotFound(`${missing.host} has no boot parameters.`)
      return release(tx, ctx, stored)
    }
    if (!kernel && !initrd && !params)
      throw new InvalidInput([{ path: 'hosts', message: 'name hosts, macs or nids, or a kernel, initrd or params' }])
    const rows = await tx
      .select({ assignment: bootAssignments, profile: bootProfiles })
      .from(bootAssignments)
      .innerJoin(bootProfiles, eq(bootProfiles.id, bootAssignments.profileId))
      .where(and(visibleTo(ctx, bootAssignments), like(bootProfiles.name, 'bss-%')))
    const stored = rows.flatMap(({ assignment: { target, nodeId, groupId }, profile }): Stored[] => {
      const { content, name } = profile
      const place: Place = { host: name, target, nodeId, groupId, arch: content.arch }
      return isStored(profile) &&
        (!kernel || content.kernel?.url === kernel) &&
        (!initrd || content.initrds?.[0]?.url === initrd) &&
        (!params || content.kernelParams.join(' ') === splitParams(params).join(' '))
        ? [{ place, profile }]
        : []
    })
    if (stored.length === 0) throw new NotFound('No boot parameters have this kernel, initrd and parameters.')
    await release(tx, ctx, stored)
  })
}
