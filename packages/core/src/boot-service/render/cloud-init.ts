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
export function cloudInitDataOf({ name, xname, nid }: NodeIdentity, profile: ResolvedBootProfile | null): CloudInitData {
  const { userData, vendorData, networkConfig, digest } = sharedDataOf(profile)
  // JSON texts are YAML, and take a fraction of the time of a YAML library.
  const facts = [
    `local-hostname: ${JSON.stringify(name)}\n`,
    xname ? `xname: ${JSON.stringify(xname)}\n` : '',
    nid === null ? '' : `nid: ${nid}\n`,
  ].join('')
  return { metaData: `instance-id: i-${sha256(digest + facts).slice(0, 16)}\n${facts}`, userData, vendorData, networkConfig }
}

/** User-data with the address at which the node reports that it has booted, which contains the token. */
export function withPhoneHome(profile: ResolvedBootProfile | null, url: string): string {
  const { encodedParts, digest } = sharedDataOf(profile)
  const report = cloudConfig(`phone_home:\n  url: ${url}\n  post: [pub_key_ed25519, instance_id, hostname]\n  tries: 5\n`)
  return encodedParts.length === 0 ? report : message([...encodedParts, encodePart(report)], sha256(digest + url))
}

/** SHA-256 of the content of a file without a token. */
export const hashOfFile = (data: CloudInitData, field: keyof CloudInitData, profile: ResolvedBootProfile | null): string =>
  field === 'userData' ? sharedDataOf(profile).userDataHash : sha256(data[field] ?? '')

/** What all nodes with a profile have in common. */
type SharedData = Omit<CloudInitData, 'metaData'> & { encodedParts: string[]; userDataHash: string; digest: string }

const sharedData = new WeakMap<ResolvedBootProfile, SharedData>()

function sharedDataOf(profile: ResolvedBootProfile | null): SharedData {
  const known = profile && sharedData.get(profile)
  if (known) return known
  const parts = userDataParts(profile)
  const userData = joinParts(parts)
  const vendorData = joinParts(profile?.vendorData.map(({ value }) => value) ?? [])
  const networkConfig = profile?.networkConfig?.value ?? null
  const digest = sha256(JSON.stringify([userData, vendorData, networkConfig]))
  const data = {
    userData,
    vendorData,
    networkConfig,
    digest,
    userDataHash: sha256(userData),
    encodedParts: parts.map(encodePart),
  }
  if (profile) sharedData.set(profile, data)
  return data
}

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

const adminPart = (name: string, sshKeys: string[]): string => {
  const config = {
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
  }
  return cloudConfig(stringify(config, { lineWidth: 0 }))
}

const cloudConfig = (yaml: string): string => `#cloud-config\n${yaml}`

/**
 * Several parts as one MIME message; a single part as it is. cloud-init recognizes the format of a part of the type text/plain by its
 * first line.
 */
const joinParts = (parts: string[]): string =>
  parts.length <= 1 ? (parts[0] ?? '') : message(parts.map(encodePart), sha256(JSON.stringify(parts)))

/** @param hash of the content, so that equal parts give equal bytes */
function message(encodedParts: string[], hash: string): string {
  const boundary = `==muster-${hash.slice(0, 24)}==`
  const parts = encodedParts.map((part) => `--${boundary}\n${part}\n`).join('')
  return `Content-Type: multipart/mixed; boundary="${boundary}"\nMIME-Version: 1.0\n\n${parts}--${boundary}--\n`
}

const PLAIN = 'Content-Type: text/plain; charset="utf-8"\nMIME-Version: 1.0\n'

/** A part with headers stays as it is. cloud-init garbles other characters than ASCII unless they are encoded. */
function encodePart(part: string): string {
  if (/^(Content-Type|MIME-Version):/.test(part)) return part
  return /^\p{ASCII}*$/u.test(part)
    ? `${PLAIN}Content-Transfer-Encoding: 7bit\n\n${part}`
    : `${PLAIN}Content-Transfer-Encoding: base64\n\n${Buffer.from(part).toString('base64').replace(/.{76}/g, '$&\n')}`
}
