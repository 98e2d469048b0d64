import { and } from 'drizzle-orm'
import { z } from 'zod'
import {
  CREDENTIAL_FIELDS,
  createCredential,
  DEFAULT_PORTS,
  deleteCredential,
  updateCredential,
} from '../../credentials/index.ts'
import { CREDENTIAL_KINDS, type CredentialKind, credentials } from '../../credentials/tables.ts'
import { isPasswordForNodes } from '../../kernel/allowed-hosts.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { type Kind, Name, type Scope, type Spec, type Stored, specOf, verbInput } from './kind.ts'

const { name, username, becomeMethod, host, port, hostKey, secretRefs, allowedHosts, description } = CREDENTIAL_FIELDS
const REFS = { via: 'Credential', secretStore: 'SecretStore' } as const

const kind = {
  spec: z.strictObject({
    type: z.enum(CREDENTIAL_KINDS).optional(),
    description: description.nullish(),
    ...{ username, becomeMethod, host, port },
    via: Name.nullish(),
    hostKey,
    allowedHosts,
    secretStore: Name.nullish(),
    secretRefs,
  }),
  defaults: { description: '' },
}

/** Default values, which depend on the type. */
const presets = (type: CredentialKind): Spec => ({
  ...(type === 'BECOME' ? { username: 'root', becomeMethod: 'sudo' } : {}),
  ...(DEFAULT_PORTS[type] ? { port: DEFAULT_PORTS[type] } : {}),
  ...(isPasswordForNodes({ kind: type }) ? { allowedHosts: ['*'] } : {}),
})

function normalize(spec: Spec, stored: Stored | null): Spec {
  const preset = presets((spec.type ?? stored?.spec.type ?? 'SSH_KEY') as CredentialKind)
  return Object.fromEntries(Object.entries(spec).filter(([key, value]) => JSON.stringify(preset[key]) !== JSON.stringify(value)))
}

async function read({ tx, ctx, lookup }: Scope, names: string[] | null): Promise<Stored[]> {
  const rows = await tx
    .select()
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), names ? isOneOf(credentials.name, names, 'text') : undefined))
  const stored: Stored[] = []
  for (const row of rows) {
    const spec = specOf(kind, {
      ...row,
      type: row.kind,
      via: await lookup.name('Credential', row.viaId),
      secretStore: await lookup.name('SecretStore', row.secretStoreId),
    })
    stored.push({ id: row.id, name: row.name, spec: normalize(spec, null) })
  }
  return stored
}

const NO_SECRETS = 'manifests contain no secrets; store it in a secret store and refer to it in secretRefs'

export const credential: Kind = {
  ...kind,
  kind: 'Credential',
  description: 'A login. Its secrets are in a secret store, or were entered before; a manifest never contains them.',
  name,
  hints: { password: NO_SECRETS, privateKey: NO_SECRETS, passphrase: NO_SECRETS, kind: 'the kind of a credential is its type' },
  normalize,
  dependsOn: ({ via }) => (typeof via === 'string' ? [via] : []),
  read,
  async create(scope, { name, spec: { type, ...spec } }) {
    if (!type) throw new InvalidInput([{ path: 'type', message: `is missing; one of ${CREDENTIAL_KINDS.join(', ')}` }])
    const input = await verbInput(scope, { refs: REFS }, spec)
    return (await createCredential(scope.ctx, { name, kind: type as CredentialKind, ...input })).id
  },
  async update(scope, { stored, changed: { type, ...changed } }) {
    if (type !== undefined)
      throw new InvalidInput([{ path: 'type', message: `is ${stored.spec.type} and cannot change; delete the credential first` }])
    const defaults = { ...kind.defaults, ...presets(stored.spec.type as CredentialKind) }
    await updateCredential(scope.ctx, { id: stored.id, ...(await verbInput(scope, { refs: REFS, defaults }, changed)) })
  },
  remove: async ({ ctx }, { id }) => void (await deleteCredential(ctx, { id })),
}
