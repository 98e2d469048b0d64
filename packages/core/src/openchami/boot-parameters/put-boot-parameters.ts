import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import {
  assignBootProfile,
  type BootProfile,
  bootProfileContent,
  bootProfilePermissions,
  bootProfiles,
  createBootProfile,
} from '../../boot-profiles/index.ts'
import { canonicalJson } from '../../kernel/canonical-json.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import type { LocalTarget } from '../../kernel/outbound/index.ts'
import { Mac, Nid } from '../../nodes/network/index.ts'
import {
  fromCloudConfig,
  isMapping,
  isStored,
  mergePatch,
  profileName,
  splitParams,
  toCloudConfig,
  type Values,
} from './format.ts'
import { DEFAULT, distinctPlaces, findPlaces, GLOBAL, type Place } from './places.ts'
import { findStored, lockBootParameters, release, targetsOf } from './stored.ts'

const MAX_PLACES = 10_000
export const BootParameterNames = {
  /** Xnames or names of nodes, labels of groups, Default, Global, Unknown-x86_64 and Unknown-arm64. */
  hosts: z.array(singleLineText(100)).max(MAX_PLACES).default([]),
  macs: z.array(Mac).max(MAX_PLACES).default([]),
  nids: z.array(Nid).max(MAX_PLACES).default([]),
}
const Text = z.string().max(4096).nullish()
export const BootParameterTexts = { kernel: Text, initrd: Text, params: Text }

export const PutBootParametersInput = z
  .object({
    /** create: none of them has boot parameters. replace: values that are not given are removed. update: they are kept. */
    mode: z.enum(['create', 'replace', 'update']),
    ...BootParameterNames,
    ...BootParameterTexts,
    /** Mapping of a cloud-config. An update merges it as a JSON merge patch. */
    userData: z.record(z.string(), z.unknown()).nullish(),
  })
  .refine(({ hosts, macs, nids }) => hosts.length + macs.length + nids.length > 0, {
    path: ['hosts'],
    message: 'name hosts, macs or nids',
  })
  .refine(({ kernel, initrd, params, userData }) => kernel || initrd || params || userData, {
    path: ['kernel'],
    message: 'give at least one of kernel, initrd, params and cloud-init',
  })

/**
 * Sets boot parameters: stores them in a boot profile and assigns it, in place of the one that stored the earlier ones; all or nothing.
 * @param localTargets the local addresses that the installation allows in URLs
 * @throws InvalidInput; NotFound a host, or one without boot parameters to update; Conflict: see `findStored`, or they exist already
 */
export async function putBootParameters(
  ctx: Ctx,
  input: z.input<typeof PutBootParametersInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<void> {
  authorize(ctx, bootProfilePermissions.write)
  const { mode, hosts, macs, nids, ...given } = parseInput(PutBootParametersInput, input)
  await inTransaction(ctx, async (tx, ctx) => {
    await lockBootParameters(tx, ctx)
    const places = distinctPlaces(await findPlaces(tx, ctx, { hosts, macs, nids }))
    const stored = await findStored(tx, ctx, places)
    const byPlace = Map.groupBy(stored, ({ place }) => place)
    const storedAt = (place: Place) => byPlace.get(place) ?? []
    const [existing] = stored
    if (mode === 'create' && existing)
      throw new Conflict(`${existing.place.host} has boot parameters already. Replace or update them with PUT or PATCH.`)
    const wanted = places.map((place) => {
      const [before] = storedAt(place)
      if (mode === 'update' && !before) throw new NotFound(`${place.host} has no boot parameters to update. Set them first.`)
      const values = { ...valuesAfter(mode === 'update' ? before!.profile : null, given), arch: place.arch }
      assertValues(place, values)
      return { place, values }
    })
    for (const group of Map.groupBy(wanted, ({ values }) => canonicalJson(values)).values()) {
      const { values } = group[0]!
      const profile = await findOrCreate(tx, ctx, values, localTargets)
      const isThere = ({ place }: { place: Place }) => storedAt(place).some((each) => each.profile.id === profile.id)
      const missing = group.filter((each) => !isThere(each)).map(({ place }) => place)
      if (missing.length > 0) await assignBootProfile(ctx, { profileId: profile.id, ...targetsOf(missing) })
      const replaced = group.flatMap(({ place }) => storedAt(place).filter((each) => each.profile.id !== profile.id))
      await release(tx, ctx, replaced)
    }
  })
}

type Given = Pick<z.output<typeof PutBootParametersInput>, 'kernel' | 'initrd' | 'params' | 'userData'>

function valuesAfter(before: BootProfile | null, { kernel, initrd, params, userData }: Given): Values {
  const old = before?.content
  const oldData = old?.userData ? fromCloudConfig(old.userData) : null
  const data = userData ? mergePatch(oldData, userData) : oldData
  return {
    kernel: kernel || (old?.kernel?.url ?? null),
    initrd: initrd || (old?.initrds?.[0]?.url ?? null),
    params: params ? splitParams(params) : (old?.kernelParams ?? []),
    userData: isMapping(data) && Object.keys(data).length > 0 ? data : null,
  }
}

function assertValues({ host }: Place, { kernel, initrd, params }: Values): void {
  const reject = (path: string, message: string): never => {
    throw new InvalidInput([{ path, message }])
  }
  if (host === GLOBAL && (kernel || initrd))
    reject('kernel', `${GLOBAL} adds parameters and cloud-init data for all nodes; set the kernel and initrd of ${DEFAULT}`)
  if (host === DEFAULT && !kernel)
    reject('kernel', `${DEFAULT} needs a kernel; set parameters and cloud-init data for all nodes with ${GLOBAL}`)
  if (params.some((param) => param.includes(JOIN_TOKEN)))
    reject('params', `must not contain ${JOIN_TOKEN}: Muster issues no join tokens`)
}
const JOIN_TOKEN = `\${SPIRE_JOIN_TOKEN}`

/** The profile with these values, unless somebody changed it since, or created another one with this name. */
async function findOrCreate(
  tx: Tx,
  ctx: Ctx,
  values: Values & { arch: Place['arch'] },
  localTargets: readonly LocalTarget[],
): Promise<BootProfile> {
  const { kernel, initrd, params, userData, arch } = values
  const fields = {
    description: 'Boot parameters of OpenCHAMI.',
    arch,
    kernel: kernel === null ? null : { url: kernel },
    initrds: initrd === null ? null : [{ url: initrd }],
    kernelParams: params,
    userData: userData && toCloudConfig(userData),
  }
  const content = canonicalJson(bootProfileContent(fields))
  for (let number = 1; ; number++) {
    const name = profileName(values, number)
    const [found] = await tx
      .select()
      .from(bootProfiles)
      .where(and(visibleTo(ctx, bootProfiles), eq(bootProfiles.name, name)))
    if (found && isStored(found) && canonicalJson(found.content) === content) return found
    if (!found) return createBootProfile(ctx, { name, ...fields }, localTargets)
  }
}
