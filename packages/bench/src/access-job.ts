import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, connect } from './client.ts'
import {
  ACCEPT_INVITATION,
  AUDIT_CHAIN,
  CREATE_CREDENTIAL,
  FINISH_OIDC_SIGN_IN,
  INVITE_MEMBER,
  REFUSED_ENTRIES,
  SIGN_IN_WITH_PASSWORD,
  START_OIDC_SIGN_IN,
} from './documents.ts'
import type { ResultOf } from './graphql.ts'
import { startOidcProvider } from './testing/identity-provider.ts'

/** Figures of the access part of the main job; see `isExpected`. */
export type AccessFigures = {
  /** Role of the member who accepted the invitation and signed in with a password. */
  invited: string
  /** Role of the user who signed in at the provider, from a group. */
  viaProvider: string
  /** Why the member could not create a credential. */
  refused: string
  /** Entries of the refused call in the audit log. */
  refusedEntries: number
  auditEntries: number
  auditProblems: number
}

const OPERATOR = { email: 'ada@site.test', name: 'Ada', password: 'correct horse battery staple' }
const CLIENT = { clientId: 'muster', clientSecret: 'a client secret of one main job' }
const GROUP = 'researchers'

/** Starts an OpenID Connect provider for the API at `url`. @returns it with the settings of the API */
export async function startProvider(url: string) {
  const provider = await startOidcProvider({ ...CLIENT, redirectUri: `${url}/sign-in/oidc`, signedOutUri: `${url}/sign-in` })
  await provider.setAccounts({ grace: { name: 'Grace', email: 'grace@idp.test', email_verified: true, groups: [GROUP] } })
  const folder = mkdtempSync(join(tmpdir(), 'mu-oidc-'))
  const secretFile = join(folder, 'client-secret')
  writeFileSync(secretFile, CLIENT.clientSecret, { mode: 0o600 })
  const settings = {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.clientId,
    OIDC_CLIENT_SECRET_FILE: secretFile,
    OIDC_ROLES: JSON.stringify({ [GROUP]: 'viewer' }),
    LOCAL_TARGETS: '127.0.0.1',
  }
  const close = async () => {
    await provider.close()
    rmSync(folder, { recursive: true })
  }
  return { ...provider, settings, close }
}
type Provider = Awaited<ReturnType<typeof startProvider>>

/**
 * Invites an operator, who accepts, signs in and is refused a verb; signs a user in through the provider; and verifies the audit chain
 * once everything is sealed.
 */
export async function accessJob(
  owner: Client,
  url: string,
  provider: Provider,
  print: (text: string) => void,
): Promise<AccessFigures> {
  const { invited, operator } = await inviteOperator(owner, url)
  print(`${OPERATOR.name} accepted the invitation and signed in with the role ${invited}`)
  const { name, role: viaProvider } = await signInAtProvider(url, provider)
  print(`${name} signed in through ${provider.issuer} with the role ${viaProvider}`)

  const refused = await operator
    .mutate(CREATE_CREDENTIAL, { input: { name: 'forbidden', kind: 'SSH_PASSWORD', username: 'ops', password: 'correct horse' } })
    .then(
      () => 'not refused',
      (error: Error) => error.message,
    )
  print(`refused: ${refused}`)
  const { auditEntries } = await owner.request(REFUSED_ENTRIES, { action: 'credential.create' })
  const refusedEntries = auditEntries.edges.filter(({ node }) => node.actorName === OPERATOR.name).length
  const chain = await verifyAudit(owner)
  print(`audit chain: ${chain.entries} entries verified, ${chain.problems} problems`)
  return { invited, viaProvider, refused, refusedEntries, auditEntries: chain.entries, auditProblems: chain.problems }
}

export function isExpected(figures: AccessFigures): boolean {
  return (
    figures.invited === 'operator' &&
    figures.viaProvider === 'viewer' &&
    /^createCredential: ForbiddenError: .*credential:/.test(figures.refused) &&
    figures.refusedEntries === 1 &&
    figures.auditEntries > 0 &&
    figures.auditProblems === 0
  )
}

async function inviteOperator(owner: Client, url: string): Promise<{ invited: string; operator: Client }> {
  const { email, name, password } = OPERATOR
  const { link } = await owner.mutate(INVITE_MEMBER, { input: { email, role: 'operator' } })
  const token = new URLSearchParams(new URL(link!).hash.slice(1)).get('token')!
  const anonymous = connect(url, () => null)
  const { viewer } = await anonymous.mutate(ACCEPT_INVITATION, { input: { token, name, password } })
  const { sessionToken } = await anonymous.mutate(SIGN_IN_WITH_PASSWORD, { input: { email, password } })
  return { invited: viewer.role, operator: connect(url, () => sessionToken) }
}

/** Signs in as a browser does: the cookie of the start belongs to the end. */
async function signInAtProvider(url: string, provider: Provider): Promise<{ name: string; role: string }> {
  const browser = connect(url, () => null, new Map())
  const { url: start } = await browser.mutate(START_OIDC_SIGN_IN, { input: {} })
  const { viewer } = await browser.mutate(FINISH_OIDC_SIGN_IN, { input: { response: await provider.signIn(start, 'grace') } })
  return viewer
}

/** Waits until a worker has sealed all entries, and verifies the chain. */
async function verifyAudit(owner: Client): Promise<{ entries: number; problems: number }> {
  for (const deadline = Date.now() + 30_000; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    let [entries, problems, unsealed] = [0, 0, 0]
    for (let after = 0, hasMore = true; hasMore; ) {
      const { auditChain }: ResultOf<typeof AUDIT_CHAIN> = await owner.request(AUDIT_CHAIN, { after })
      entries += auditChain.checkedCount
      problems += auditChain.problems.length
      unsealed = auditChain.unsealedCount
      hasMore = auditChain.hasMore
      after = auditChain.lastSeq
    }
    if (unsealed === 0 || Date.now() > deadline) return { entries, problems: problems + unsealed }
  }
}
