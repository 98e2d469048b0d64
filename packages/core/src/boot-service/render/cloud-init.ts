import { createHash } from 'node:crypto'
import { stringify } from 'yaml'
import type { ResolvedBootProfile } from '../../boot-profiles/index.ts'

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What cloud-init fetches, without a token. Null: the node has none, and cloud-init uses its default. */
export type CloudInitData = { metaData: string; userData: string; vendorData: string; networkConfig: string | null }

type NodeIdentity = { name: string; xname: string | null; nid: number | null }

/**
 * Data of a node for cloud-init. The instance ID changes exactly when the rest changes, and then cloud-init configures the node again.
 */
export function cloudInitDataOf(node: NodeIdentity, profile: ResolvedBootProfile | null): CloudInitData {
  const userData = joinParts(userDataParts(profile))
  const vendorData = joinParts(profile?.vendorData.map(({ value }) => value) ?? [])
  const networkConfig = profile?.networkConfig?.value ?? null
  const facts = {
    'local-hostname': node.name,
    ...(node.xname ? { xname: node.xname } : {}),
    ...(node.nid === null ? {} : { nid: node.nid }),
  }
  const revision = sha256(JSON.stringify([facts, userData, vendorData, networkConfig])).slice(0, 16)
  return { metaData: stringify({ 'instance-id': `i-${revision}`, ...facts }), userData, vendorData, networkConfig }
}

/** User-data with the address at which the node reports that it has booted, which contains the token. */
export const withPhoneHome = (profile: ResolvedBootProfile | null, url: string): string =>
  joinParts([
    ...userDataParts(profile),
    cloudConfig({ phone_home: { url, post: ['pub_key_ed25519', 'instance_id', 'hostname'], tries: 5 } }),
  ])

/** The parts of the profiles, the root first, then the admin user. */
function userDataParts(profile: ResolvedBootProfile | null): string[] {
  if (!profile) return []
  const parts = profile.userData.map(({ value }) => value)
  return profile.adminUser
    ? [
        ...parts,
        adminPart(
          profile.adminUser.value,
          profile.sshKeys.map(({ value }) => value),
        ),
      ]
    : parts
}

const adminParts = new Map<string, string>()
const MAX_ADMIN_PARTS = 100

/** Most nodes have the same admin user, and YAML takes longer than the rest of a request. */
function adminPart(name: string, sshKeys: string[]): string {
  const key = JSON.stringify([name, sshKeys])
  const part = adminParts.get(key) ?? renderAdminPart(name, sshKeys)
  if (!adminParts.has(key) && adminParts.size >= MAX_ADMIN_PARTS) adminParts.clear()
  adminParts.set(key, part)
  return part
}

const renderAdminPart = (name: string, sshKeys: string[]): string =>
  cloudConfig({
    // Adds the user to those of the other parts; by default the last list of users replaces the others.
    merge_how: [
      { name: 'dict', settings: ['no_replace', 'recurse_list'] },
      { name: 'list', settings: ['append'] },
    ],
    users: [
      {
        name,
        lock_passwd: true,
        shell: '/bin/bash',
        sudo: 'ALL=(ALL) NOPASSWD:ALL',
        ...(sshKeys.length > 0 ? { ssh_authorized_keys: sshKeys } : {}),
      },
    ],
  })

const cloudConfig = (config: object): string => `#cloud-config\n${stringify(config, { lineWidth: 0 })}`

/**
 * Several parts as one MIME message; a single part as it is. cloud-init recognizes the format of a part of the type text/plain by its
 * first line.
 */
function joinParts(parts: string[]): string {
  if (parts.length <= 1) return parts[0] ?? ''
  // Derived from the content, so that equal parts give equal bytes.
  const boundary = `==muster-${sha256(JSON.stringify(parts)).slice(0, 24)}==`
  const encoded = parts.map((part) => `--${boundary}\n${/^(Content-Type|MIME-Version):/.test(part) ? part : encodePart(part)}\n`)
  return `Content-Type: multipart/mixed; boundary="${boundary}"\nMIME-Version: 1.0\n\n${encoded.join('')}--${boundary}--\n`
}

const PLAIN = 'Content-Type: text/plain; charset="utf-8"\nMIME-Version: 1.0\n'

/** cloud-init garbles other characters than ASCII unless they are encoded. */
const encodePart = (part: string): string =>
  /^\p{ASCII}*$/u.test(part)
    ? `${PLAIN}Content-Transfer-Encoding: 7bit\n\n${part}`
    : `${PLAIN}Content-Transfer-Encoding: base64\n\n${Buffer.from(part).toString('base64').replace(/.{76}/g, '$&\n')}`
