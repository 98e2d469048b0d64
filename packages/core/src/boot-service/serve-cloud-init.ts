import { effectiveBootProfiles, type ResolvedBootProfile } from '../boot-profiles/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { type BootUrls, phoneHomeUrl } from './boot-urls.ts'
import type { FetchRecorder } from './fetch-recorder.ts'
import { findBootNodes } from './find-boot-nodes.ts'
import { bootPermissions } from './permissions.ts'
import { originOf } from './record-boot-fetches.ts'
import { type CloudInitData, cloudInitDataOf, hashOfFile, withPhoneHome } from './render/cloud-init.ts'
import { servedProfiles } from './served-profiles.ts'

export const CLOUD_INIT_FILES = ['meta-data', 'user-data', 'vendor-data', 'network-config'] as const
export type CloudInitFile = (typeof CLOUD_INIT_FILES)[number]

const KINDS = {
  'meta-data': 'META_DATA',
  'user-data': 'USER_DATA',
  'vendor-data': 'VENDOR_DATA',
  'network-config': 'NETWORK_CONFIG',
} as const
const FIELDS = {
  'meta-data': 'metaData',
  'user-data': 'userData',
  'vendor-data': 'vendorData',
  'network-config': 'networkConfig',
} as const satisfies Record<CloudInitFile, keyof CloudInitData>

export type CloudInitRequest = {
  nodeName: string
  file: CloudInitFile
  address: string | null
  urls: BootUrls
  /** Why the connection must not carry a token; null: it may. */
  tokenRefusal: string | null
}

/**
 * Data for cloud-init, with a fixed number of statements for any number of requests. The first user-data of a boot has the token; see
 * `recordBootFetches`.
 * @returns the content per request, in their order; null: there is no such node or file. User-data come later than the other files
 */
export async function serveCloudInit(
  ctx: Ctx,
  requests: readonly CloudInitRequest[],
  recorder: Pick<FetchRecorder, 'record'>,
): Promise<Promise<string | null>[]> {
  authorize(ctx, bootPermissions.serve)
  const found = await findBootNodes(
    ctx,
    requests.map(({ nodeName }) => ({ name: nodeName })),
  )
  const nodes = found.map((node) => (node?.status === 'DECOMMISSIONED' ? null : node))
  const ids = [...new Set(nodes.flatMap((node) => node?.id ?? []))]
  const effective = ids.length > 0 ? await effectiveBootProfiles(ctx, ids, new Map(), servedProfiles) : new Map()
  return requests.map(async ({ file, address, tokenRefusal, urls }, i) => {
    const node = nodes[i]
    if (!node) return null
    const profile: ResolvedBootProfile | null = effective.get(node.id)?.profile ?? null
    const data = cloudInitDataOf(node, profile)
    const content = data[FIELDS[file]]
    if (content === null) return null
    const facts = { nodeId: node.id, nodeName: node.name, kind: KINDS[file], ...originOf(profile), address }
    const token = file === 'user-data' ? { token: { reason: tokenRefusal } } : {}
    const recorded = await recorder.record({ ...facts, hash: hashOfFile(data, FIELDS[file], profile), ...token })
    return recorded?.token ? withPhoneHome(profile, phoneHomeUrl(urls, recorded.token)) : content
  })
}
