import { type BootCandidate, effectiveBootProfiles, type ProfileRef, type ResolvedBootProfile } from '../boot-profiles/index.ts'
import type { Ctx } from '../kernel/context.ts'
import { type BootUrls, bootScriptUrl, cloudInitUrl } from './boot-urls.ts'
import { findBootNodesById } from './find-boot-nodes.ts'
import { bootImagesOf, hashOfImages, renderBootScript } from './render/boot-script.ts'
import { cloudInitDataOf, sha256 } from './render/cloud-init.ts'
import type { BootFetchKind } from './tables.ts'

/** `origins`: the profiles that it comes from, in merge order. */
export type BootPreviewFile = { kind: BootFetchKind; content: string; hash: string; origins: ProfileRef[] }

/** What a node would receive now. Hashes equal those of its fetches. */
export type BootPreview = {
  files: BootPreviewFile[]
  /** Why there is no boot script. */
  reason: string | null
  profile: ResolvedBootProfile | null
  candidates: BootCandidate[]
}

/** What these nodes would receive. Issues no token and records nothing. */
export async function previewBoots(ctx: Ctx, nodeIds: readonly string[], urls: BootUrls): Promise<Map<string, BootPreview>> {
  const nodes = await findBootNodesById(ctx, [...nodeIds])
  const effective = await effectiveBootProfiles(ctx, [...nodes.keys()])
  return new Map(
    [...nodes.values()].map((node) => {
      const { profile = null, candidates = [], reason = null } = effective.get(node.id) ?? {}
      const images = profile && bootImagesOf(profile, { ...node, mac: node.bootMac }, cloudInitUrl(urls, node.name))
      const identity = node.bootMac ? { mac: node.bootMac } : { name: node.name }
      const retryUrl = bootScriptUrl(urls, identity, { retry: 1 })
      const { metaData, userData, vendorData, networkConfig } = cloudInitDataOf(node, profile)
      const contents: [BootFetchKind, string | null][] = [
        ['META_DATA', metaData],
        ['USER_DATA', userData],
        ['VENDOR_DATA', vendorData],
        ['NETWORK_CONFIG', networkConfig],
      ]
      const files = contents.flatMap(([kind, content]) =>
        content === null ? [] : [{ kind, content, hash: sha256(content), origins: originsOf(profile, kind) }],
      )
      if (images)
        files.unshift({
          kind: 'BOOT_SCRIPT',
          content: renderBootScript(images, { retry: 0, retryUrl }),
          hash: hashOfImages(images),
          origins: originsOf(profile, 'BOOT_SCRIPT'),
        })
      const why = images ? null : (reason ?? profile?.problems[0] ?? null)
      return [node.id, { files, reason: why, profile, candidates }]
    }),
  )
}

const FIELDS_OF = {
  BOOT_SCRIPT: ['kernel', 'initrds', 'rootImage', 'kernelParams'],
  META_DATA: [],
  USER_DATA: ['userData', 'adminUser', 'sshKeys'],
  VENDOR_DATA: ['vendorData'],
  NETWORK_CONFIG: ['networkConfig'],
  PHONE_HOME: [],
} as const satisfies Record<BootFetchKind, readonly (keyof ResolvedBootProfile)[]>

function originsOf(profile: ResolvedBootProfile | null, kind: BootFetchKind): ProfileRef[] {
  if (!profile) return []
  const used = new Set(FIELDS_OF[kind].flatMap((field) => [profile[field] ?? []].flat().map((each) => each.profile.id)))
  return profile.chain.filter(({ id }) => used.has(id))
}
