import { z } from 'zod'
import type { InputIssue } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { SECRET_FIELDS, SECRET_STORE_AUTHS, type SecretStore, type SecretStoreAuth, type SecretStoreKind } from '../tables.ts'

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** An origin that may receive a token: https, or http on this machine. */
const Address = z.string().transform((text, ctx) => {
  const invalid = (message: string) => {
    ctx.addIssue({ code: 'custom', message })
    return z.NEVER
  }
  const url = URL.parse(text.trim())
  if (!url) return invalid('must look like https://vault.example.org:8200')
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && LOOPBACK.test(url.hostname)))
    return invalid('must begin with https://; http:// is for addresses of this machine only')
  if (url.username || url.password || url.pathname !== '/' || url.search || url.hash)
    return invalid('must be an address and nothing more, as https://vault.example.org:8200')
  return url.origin
})

/** Names separated by slashes. They become part of a URL, so none may leave the mount. */
const Path = singleLineText(500).refine(
  (path) => path.split('/').every((part) => /^[^?#%\\]+$/.test(part) && part !== '.' && part !== '..'),
  'must be names parted by /, without . and .. and none of ?, #, % and \\',
)

export const STORE_FIELDS = {
  name: singleLineText(100),
  /** AWS_SECRETS_MANAGER: default the endpoint of the region. */
  address: Address.optional(),
  namespace: Path.nullish(),
  mount: Path.nullish(),
  auth: z.enum(SECRET_STORE_AUTHS),
  roleId: singleLineText(200).nullish(),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be the name of a region, as eu-central-1')
    .nullish(),
  accessKeyId: z
    .string()
    .regex(/^\w{16,128}$/, 'must be an access key ID, as AKIAIOSFODNN7EXAMPLE')
    .nullish(),
  /** The token, the role's secret ID, or the secret access key. */
  secret: z
    .string()
    .min(1, 'must not be empty')
    .max(4096)
    .regex(/^[\x21-\x7e]+$/, 'must be one word of ASCII'),
}

/** What each authentication method needs beside the secret; other fields of this list must be null. */
const FIELDS_OF_AUTH = {
  TOKEN: { kind: 'VAULT', required: ['mount'], optional: ['namespace'] },
  APP_ROLE: { kind: 'VAULT', required: ['mount', 'roleId'], optional: ['namespace'] },
  ACCESS_KEY: { kind: 'AWS_SECRETS_MANAGER', required: ['region', 'accessKeyId'], optional: [] },
} as const satisfies Record<SecretStoreAuth, { kind: SecretStoreKind; required: Field[]; optional: Field[] }>
const FIELDS = ['namespace', 'mount', 'roleId', 'region', 'accessKeyId'] as const
type Field = (typeof FIELDS)[number]

/** Returns the issues of fields that the kind and the authentication of a store require or do not have. */
export function storeIssues(store: Pick<SecretStore, 'kind' | 'auth' | Field>): InputIssue[] {
  const { kind, required, optional }: { kind: SecretStoreKind; required: readonly Field[]; optional: readonly Field[] } =
    FIELDS_OF_AUTH[store.auth]
  if (kind !== store.kind) {
    const auths = SECRET_STORE_AUTHS.filter((auth) => FIELDS_OF_AUTH[auth].kind === store.kind)
    return [{ path: 'auth', message: `must be ${auths.join(' or ')} for a store of the kind ${store.kind}` }]
  }
  return FIELDS.flatMap((field) => {
    if (required.includes(field)) return store[field] ? [] : [{ path: field, message: `is required for ${store.auth}` }]
    return store[field] && !optional.includes(field) ? [{ path: field, message: `is not used with ${store.auth}` }] : []
  })
}

/** Endpoint of AWS Secrets Manager in a region. */
export const awsEndpoint = (region: string): string =>
  `https://secretsmanager.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`

/** References from fields of a credential to values in a secret store. */
export const SecretRefs = z.partialRecord(z.enum(SECRET_FIELDS), z.object({ path: Path, key: singleLineText(200) }))
