import { effectiveBootProfiles, type ResolvedBootProfile } from '../boot-profiles/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { type BootUrls, phoneHomeUrl } from './boot-urls.ts'
import { findBootNodes } from './find-boot-nodes.ts'
import { bootPermissions } from './permissions.ts'
import { originOf, recordBootFetches } from './record-boot-fetches.ts'
import { type CloudInitData, cloudInitDataOf, sha256, withPhoneHome } from './render/cloud-init.ts'

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
 * @returns the content per request, in their order; null: there is no such node or file
 */
export async function serveCloudInit(ctx: Ctx, requests: readonly CloudInitRequest[]): Promise<(string | null)[]> {
  authorize(ctx, bootPermissions.serve)
  const found = await findBootNodes(
    ctx,
    requests.map(({ nodeName }) => ({ name: nodeName })),
  )
  const nodes = found.map((node) => (node?.status === 'DECOMMISSIONED' ? null : node))
  const ids = [...new Set(nodes.flatMap((node) => node?.id ?? []))]
  if (ids.length === 0) return requests.map(() => null)
  const effective = await effectiveBootProfiles(ctx, ids)
  const profileOf = (id: string): ResolvedBootProfile | null => effective.get(id)?.profile ?? null
  const contents = requests.map(({ file }, i) => {
    const node = nodes[i]
    return node ? cloudInitDataOf(node, profileOf(node.id))[FIELDS[file]] : null
  })
  const served = requests.flatMap((request, i) => {
    const [node, content] = [nodes[i], contents[i]]
    return node && content !== null && content !== undefined ? [{ request, node, content, i }] : []
  })
  const recorded = await recordBootFetches(
    ctx,
    served.map(({ request: { file, address, tokenRefusal }, node, content }) => {
      const facts = { nodeId: node.id, nodeName: node.name, kind: KINDS[file], ...originOf(profileOf(node.id)), address }
      return { ...facts, hash: sha256(content), ...(file === 'user-data' ? { token: { reason: tokenRefusal } } : {}) }
    }),
  )
  for (const [at, { request, node, i }] of served.entries()) {
    const { token } = recorded[at]!
    if (token) contents[i] = withPhoneHome(profileOf(node.id), phoneHomeUrl(request.urls, token))
  }
  return contents.map((content) => content ?? null)
}
