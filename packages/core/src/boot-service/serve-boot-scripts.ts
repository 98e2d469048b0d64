import { type BootArch, effectiveBootProfiles, type ResolvedBootProfile, unknownBootProfile } from '../boot-profiles/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { isTransientDbError } from '../kernel/retry-transient.ts'
import { type BootUrls, bootScriptUrl, cloudInitUrl } from './boot-urls.ts'
import type { FetchRecorder } from './fetch-recorder.ts'
import { type BootIdentity, type BootNode, findBootNodes } from './find-boot-nodes.ts'
import { bootPermissions } from './permissions.ts'
import { originOf } from './record-boot-fetches.ts'
import {
  type BootImages,
  bootImagesOf,
  hashOfImages,
  renderBootScript,
  renderExitScript,
  renderReportScript,
  renderRetryScript,
} from './render/boot-script.ts'
import { reportUnknownMachines } from './report-unknown-machines.ts'
import { servedProfiles } from './served-profiles.ts'
import type { ReportedInterface, UnknownMachineState } from './tables.ts'

/** A request for a boot script. MACs are normalized. */
export type BootScriptRequest = {
  identity: BootIdentity
  /** As the firmware reports it; other values than x86_64 and aarch64 only describe an unknown machine. */
  arch: BootArch | string | null
  /** Number of attempts before this one. */
  retry: number
  /** Of an unknown machine. */
  serial?: string | null
  systemUuid?: string | null
  interfaces?: ReportedInterface[]
  address: string | null
  urls: BootUrls
}
/** The script, with the same as data when it boots something; or why there is none. */
export type BootScript =
  | { script: string; images: BootImages | null; error?: undefined }
  | { script?: undefined; images?: undefined; error: string }

const ARCHES: readonly string[] = ['x86_64', 'aarch64'] satisfies BootArch[]
const bootArch = (arch: string | null): BootArch | null => (arch !== null && ARCHES.includes(arch) ? (arch as BootArch) : null)

/** Makes the machine ask again, without a statement. */
export const retryScript = ({ identity, arch, retry, urls }: BootScriptRequest): string =>
  renderRetryScript({ retry, retryUrl: bootScriptUrl(urls, identity, { ...(arch ? { arch } : {}), retry: retry + 1 }) })

/**
 * Boot scripts of machines, with a fixed number of statements for any number of requests. Records what nodes fetch, and machines that no
 * node has, unless they name no MAC.
 * @returns one result per request, in their order
 */
export async function serveBootScripts(
  ctx: Ctx,
  requests: readonly BootScriptRequest[],
  recorder: Pick<FetchRecorder, 'record'>,
): Promise<BootScript[]> {
  authorize(ctx, bootPermissions.serve)
  const nodes = await findBootNodes(
    ctx,
    requests.map(({ identity }) => identity),
  )
  const arches = new Map(
    requests.flatMap(({ arch }, i) => {
      const [node, known] = [nodes[i], bootArch(arch)]
      return node && known ? [[node.id, known] as const] : []
    }),
  )
  const ids = [...new Set(nodes.flatMap((node) => node?.id ?? []))]
  const effective = ids.length > 0 ? await effectiveBootProfiles(ctx, ids, arches, servedProfiles) : new Map()
  const unknown = await serveUnknown(
    ctx,
    requests.filter((_, i) => nodes[i] === null),
  )
  const results = requests.map((request, i): BootScript & { profile?: ResolvedBootProfile } => {
    const node = nodes[i]
    if (!node) return unknown.get(request)!
    const { profile, reason } = effective.get(node.id) ?? { profile: null, reason: null }
    if (!profile) return { error: reason ?? `The node ${node.name} was deleted a moment ago.` }
    return { ...scriptOf(request, node, profile), profile }
  })
  await Promise.all(
    requests.flatMap(({ identity, retry, address }, i) => {
      const [node, result] = [nodes[i], results[i]!]
      if (!node || result.script === undefined) return []
      const facts = { nodeId: node.id, nodeName: node.name, kind: 'BOOT_SCRIPT' as const, ...originOf(result.profile!), address }
      const hash = hashOfImages(result.images!)
      const recorded = recorder.record({ ...facts, hash, mac: identity.mac ?? null, isRetry: retry > 0 })
      // A node that was deleted meanwhile must not fail the requests of others.
      return recorded.catch((error: unknown) => {
        if (isTransientDbError(error)) throw error
        ctx.log.warn({ err: error, node: node.name }, 'boot fetch was not recorded')
        results[i] = { error: `The node ${node.name} was deleted a moment ago.` }
      })
    }),
  )
  return results.map(({ profile: _, ...result }) => result as BootScript)
}

/** The script with which a node boots its profile. */
function scriptOf({ identity, retry, urls, arch }: BootScriptRequest, node: BootNode, profile: ResolvedBootProfile): BootScript {
  const mac = identity.mac ?? node.bootMac
  const images = bootImagesOf(profile, { ...node, mac }, cloudInitUrl(urls, node.name))
  if (!images) return { error: `The boot profile ${profile.name} of the node ${node.name}: ${profile.problems[0]}` }
  const retryUrl = bootScriptUrl(urls, identity, { ...(arch ? { arch } : {}), retry: retry + 1 })
  return { script: renderBootScript(images, { retry, retryUrl }), images }
}

/**
 * Scripts of machines that no node has. The first request has no architecture: the script makes the machine ask again with what it knows
 * about itself. Then it boots the profile of unknown machines, or asks again until somebody accepts it.
 */
async function serveUnknown(ctx: Ctx, requests: BootScriptRequest[]): Promise<Map<BootScriptRequest, BootScript>> {
  const results = new Map<BootScriptRequest, BootScript>()
  const reports = requests.flatMap(({ identity: { mac }, arch, ...facts }) => (mac && arch ? [{ ...facts, mac, arch }] : []))
  const states: Map<string, UnknownMachineState> = reports.length > 0 ? await reportUnknownMachines(ctx, reports) : new Map()
  const profiles = new Map<BootArch | null, ResolvedBootProfile | null>()
  for (const arch of new Set(reports.map((report) => bootArch(report.arch))))
    profiles.set(arch, (await unknownBootProfile(ctx, arch)).profile)
  for (const request of requests) {
    const { identity, arch, retry, urls } = request
    if (!identity.mac)
      results.set(request, { error: `No node has the ${identity.name ? `name ${identity.name}` : `NID ${identity.nid}`}.` })
    else if (!arch) results.set(request, { script: renderReportScript(bootScriptUrl(urls, identity)), images: null })
    else if (states.get(identity.mac) === 'REJECTED') results.set(request, { script: renderExitScript(), images: null })
    else {
      const profile = profiles.get(bootArch(arch))
      const images = profile ? bootImagesOf(profile, { xname: null, nid: null, mac: identity.mac }, null) : null
      const again = { retry, retryUrl: bootScriptUrl(urls, identity, { arch, retry: retry + 1 }) }
      results.set(request, { script: images ? renderBootScript(images, again) : renderRetryScript(again), images })
    }
  }
  return results
}
