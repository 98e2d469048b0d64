import { z } from 'zod'
import { Host, Port, User } from '../kernel/address.ts'
import { AllowedHosts } from '../kernel/allowed-hosts.ts'
import type { InputIssue } from '../kernel/errors.ts'
import { Id, multilineText, Secret, singleLineText } from '../kernel/input.ts'
import { HostKey } from '../nodes/index.ts'
import { SecretRefs } from './secret-stores/secret-store-fields.ts'
import type { CredentialKind, SecretRef } from './tables.ts'

const NUL = /[\u0000\r\n]/
/** A password or token without trimming. It is passed on one line, so it cannot contain a line end. */
const Password = Secret.max(4096, 'must have at most 4096 characters').refine((text) => !NUL.test(text), 'must be one line')

/** A host key, or a line of known_hosts or ssh-keyscan that starts with the address. */
const KnownHost = z
  .string()
  .max(20_000)
  .transform((text) => text.trim().replace(/^\S+\s+(?=(?:ssh|ecdsa)-\S+\s)/, ''))
  .pipe(HostKey)

/** The fields of all kinds; `MAY_HAVE` has the fields of each kind. */
export const FIELDS = {
  name: singleLineText(100),
  description: multilineText(2000),
  username: User.nullish(),
  privateKey: z.string().max(64_000, 'is far too long for a private key').nullish(),
  passphrase: Password.nullish(),
  password: Password.nullish(),
  becomeMethod: z.enum(['sudo', 'su'], 'must be sudo or su').nullish(),
  host: Host.nullish(),
  port: Port.nullish(),
  viaId: Id.nullish(),
  hostKey: KnownHost.nullish(),
  secretStoreId: Id.nullish(),
  secretRefs: SecretRefs.nullish(),
  allowedHosts: AllowedHosts.optional(),
}
export type Field = Exclude<keyof typeof FIELDS, 'name' | 'description' | 'secretStoreId' | 'secretRefs'>

const EVERY_KIND = ['name', 'description', 'secretStoreId', 'secretRefs']
const MAY_HAVE: Record<CredentialKind, readonly Field[]> = {
  SSH_KEY: ['username', 'privateKey', 'passphrase'],
  SSH_PASSWORD: ['username', 'password', 'allowedHosts'],
  BASTION: ['username', 'privateKey', 'passphrase', 'password', 'host', 'port', 'viaId'],
  BECOME: ['username', 'password', 'becomeMethod', 'allowedHosts'],
  GIT: ['username', 'privateKey', 'passphrase', 'password', 'host', 'port', 'hostKey'],
  SALT: ['username', 'password', 'host', 'port'],
  SLURMRESTD: ['username', 'password', 'host', 'port'],
  BMC: ['username', 'password', 'allowedHosts'],
}

/** Returns one issue per field that credentials of `kind` do not have. */
export function unexpectedFields(kind: CredentialKind, input: Partial<Record<Field, unknown>>): InputIssue[] {
  return (Object.keys(FIELDS) as Field[])
    .filter((field) => input[field] != null && field in input && ![...EVERY_KIND, ...MAY_HAVE[kind]].includes(field))
    .map((field) => ({ path: field, message: `a credential of the kind ${kind} has no ${field}` }))
}

/** Returns one issue per missing field that credentials of `kind` require. */
export function missingFields(kind: CredentialKind, input: Partial<Record<Field, unknown>>): InputIssue[] {
  const needed: Record<CredentialKind, Field[]> = {
    SSH_KEY: ['privateKey'],
    SSH_PASSWORD: ['password'],
    BASTION: ['host', 'username'],
    BECOME: ['password'],
    GIT: ['host'],
    SALT: ['host', 'username', 'password'],
    SLURMRESTD: ['host', 'username', 'password'],
    BMC: ['username', 'password'],
  }
  const issues = needed[kind]
    .filter((field) => input[field] == null)
    .map((field) => ({ path: field as string, message: 'is required' }))
  if ((kind === 'BASTION' || kind === 'GIT') && input.privateKey == null && input.password == null)
    issues.push({ path: 'privateKey', message: 'is required, or a password' })
  if (kind === 'GIT' && input.privateKey != null && input.hostKey == null)
    issues.push({
      path: 'hostKey',
      message: 'is required with a private key: the line that `ssh-keyscan HOST` prints; compare its fingerprint first',
    })
  return issues
}

/**
 * Returns issues of references to a store: fields that the kind does not have, a missing store, or a store without references.
 */
export function refIssues(
  kind: CredentialKind,
  { secretStoreId, secretRefs }: { secretStoreId?: string | null; secretRefs: Partial<Record<string, SecretRef>> },
): InputIssue[] {
  const isUsed = Object.keys(secretRefs).length > 0
  return [
    ...unexpectedFields(kind, secretRefs).map(({ path, message }) => ({ path: `secretRefs.${path}`, message })),
    ...(isUsed && !secretStoreId ? [{ path: 'secretStoreId', message: 'is required with secretRefs' }] : []),
    ...(!isUsed && secretStoreId ? [{ path: 'secretRefs', message: 'must list the fields in the secret store' }] : []),
  ]
}
