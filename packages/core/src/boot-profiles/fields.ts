import { z } from 'zod'
import { User } from '../kernel/address.ts'
import { type InputIssue, parseInput } from '../kernel/errors.ts'
import { Id, multilineText, singleLineText } from '../kernel/input.ts'
import { endpointOf, type LocalTarget, targetIssues } from '../kernel/outbound/index.ts'
import { networkConfigError, userDataError } from './cloud-init.ts'
import { MAX_COMMAND_LINE } from './kernel-params.ts'
import { sshKeyError, sshKeyIdentity } from './ssh-keys.ts'
import { BOOT_ARCHES, type BootProfileContent } from './tables.ts'

const MAX_CLOUD_INIT = 64 * 1024
const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----|PuTTY-User-Key-File-/

export const BootProfileName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, 'must be 1 to 63 letters, digits, dots, dashes or underscores')

const ALIASES: Record<string, string> = { 'x86-64': 'x86_64', amd64: 'x86_64', arm64: 'aarch64' }

/** Architecture as in `uname -m`; also accepts the names of Debian, iPXE and BSS. */
export const BootArchInput = z.preprocess(
  (text) => (typeof text === 'string' ? (ALIASES[text.toLowerCase()] ?? text) : text),
  z.enum(BOOT_ARCHES, 'must be x86_64 or aarch64'),
)

const checkWith = (error: (text: string) => string | null) => (text: string, issue: z.core.$RefinementCtx<string>) => {
  const message = error(text)
  if (message) issue.addIssue({ code: 'custom', message })
}
const withoutPrivateKey = (text: string): string | null =>
  PRIVATE_KEY.test(text)
    ? 'contains a private key. Every machine in the boot network can read a boot profile: deliver secrets over SSH after the boot'
    : null

const BootUrl = singleLineText(2000).transform((text, issue) => {
  const url = URL.parse(text)
  if (url && /^(https?|tftp|nfs):$/.test(url.protocol) && url.hostname && !url.username && !url.password && !url.hash)
    return url.href
  issue.addIssue('must be an http, https, tftp or nfs URL, such as http://10.0.0.1/vmlinuz, without a name, password or #')
  return z.NEVER
})

const Checksum = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/, 'must be sha256: and 64, or sha512: and 128 hexadecimal digits')

const Image = z.strictObject({
  url: BootUrl,
  checksum: Checksum.nullish().transform((checksum) => checksum ?? null),
})

const KernelParam = singleLineText(MAX_COMMAND_LINE).refine(
  (param) => /^[^\s"=]+(=([^\s"]|"[^"]*")*)?$/.test(param),
  'must be name or name=value; put values with spaces in double quotes',
)

const SshKey = singleLineText(16_384).superRefine(checkWith(sshKeyError))

const cloudInit = (error: (text: string) => string | null) =>
  multilineText(MAX_CLOUD_INIT)
    .superRefine(checkWith(withoutPrivateKey))
    .superRefine(checkWith((text) => (text.trim() === '' ? null : error(text))))
    .transform((text) => (text.trim() === '' ? null : text))

/** Fields of a boot profile that users set. Null inherits. */
export const BOOT_PROFILE_FIELDS = {
  parentId: Id.nullish(),
  description: multilineText(2000).superRefine(checkWith(withoutPrivateKey)).nullish(),
  arch: BootArchInput.nullish(),
  kernel: Image.nullish(),
  initrds: z.array(Image).max(16, 'at most 16 initrds').nullish(),
  rootImage: Image.nullish(),
  kernelParams: z
    .array(KernelParam)
    .max(200, 'at most 200 kernel parameters')
    .refine((params) => params.join(' ').length <= MAX_COMMAND_LINE, `must have at most ${MAX_COMMAND_LINE} characters together`)
    .nullish(),
  adminUser: User.max(32, 'must have at most 32 characters').nullish(),
  sshKeys: z
    .array(SshKey)
    .max(100, 'at most 100 SSH keys')
    .transform((keys) => [...new Map(keys.map((key) => [sshKeyIdentity(key), key])).values()])
    .nullish(),
  userData: cloudInit(userDataError).nullish(),
  vendorData: cloudInit(userDataError).nullish(),
  networkConfig: cloudInit(networkConfigError).nullish(),
  /** Why it changes; stored with the version. */
  comment: multilineText(1000).nullish(),
}
type Given = { [K in keyof typeof BOOT_PROFILE_FIELDS]?: z.output<(typeof BOOT_PROFILE_FIELDS)[K]> }

export const NO_CONTENT: BootProfileContent = {
  description: '',
  arch: null,
  kernel: null,
  initrds: null,
  rootImage: null,
  kernelParams: [],
  adminUser: null,
  sshKeys: [],
  userData: null,
  vendorData: null,
  networkConfig: null,
}
export const CONTENT_FIELDS = Object.keys(NO_CONTENT) as (keyof BootProfileContent)[]

/** The content after a change: omitted fields keep their values, null clears them. */
export function changedContent(before: BootProfileContent, given: Given): BootProfileContent {
  const changes = CONTENT_FIELDS.flatMap((field) =>
    given[field] === undefined ? [] : [[field, given[field] ?? NO_CONTENT[field]]],
  )
  return { ...before, ...(Object.fromEntries(changes) as Partial<BootProfileContent>) }
}

/** What a new profile with these fields has. @throws InvalidInput */
export const bootProfileContent = (fields: z.input<typeof Fields>): BootProfileContent =>
  changedContent(NO_CONTENT, parseInput(Fields, fields))
const Fields = z.object(BOOT_PROFILE_FIELDS)

/** Rejects URLs at addresses of the machine itself, its link and metadata services, unless the installation lists them. */
export function bootUrlIssues(given: Given, localTargets: readonly LocalTarget[]): Promise<InputIssue[]> {
  const urls = [
    ...(given.kernel ? [{ path: 'kernel.url', url: given.kernel.url }] : []),
    ...(given.initrds ?? []).map(({ url }, i) => ({ path: `initrds.${i}.url`, url })),
    ...(given.rootImage ? [{ path: 'rootImage.url', url: given.rootImage.url }] : []),
  ]
  return targetIssues(
    urls.map(({ path, url }) => {
      const { host, port } = endpointOf(new URL(url))
      return { path, host, port: port || null }
    }),
    localTargets,
  )
}
