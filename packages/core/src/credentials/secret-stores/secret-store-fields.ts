import { z } from 'zod'
import type { InputIssue } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { SECRET_FIELDS, SECRET_STORE_AUTHS, type SecretStore } from '../tables.ts'

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
  address: Address,
  namespace: Path.nullish(),
  mount: Path,
  auth: z.enum(SECRET_STORE_AUTHS),
  roleId: singleLineText(200).nullish(),
  /** The token, or the role's secret ID. */
  secret: z
    .string()
    .min(1, 'must not be empty')
    .max(4096)
    .regex(/^[\x21-\x7e]+$/, 'must be one word of ASCII'),
}

/** Returns the issue of a role ID that is missing or not allowed, if any. */
export const roleIssues = ({ auth, roleId }: Pick<SecretStore, 'auth' | 'roleId'>): InputIssue[] =>
  auth === 'APP_ROLE' && !roleId
    ? [{ path: 'roleId', message: 'is required for APP_ROLE' }]
    : auth === 'TOKEN' && roleId
      ? [{ path: 'roleId', message: 'is used with APP_ROLE only' }]
      : []

/** References from fields of a credential to values in a secret store. */
export const SecretRefs = z.partialRecord(z.enum(SECRET_FIELDS), z.object({ path: Path, key: singleLineText(200) }))
