import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP, connect as overTcp } from 'node:net'
import { connect as overTls } from 'node:tls'
import { type ldapSettings, rolesOf } from '@muster/core/access'
import type { Config } from '@muster/core/config'
import { DomainError, Unauthenticated, Unavailable } from '@muster/core/errors'
import { certificateProblem, type LocalTarget, resolveTarget, TargetError } from '@muster/core/outbound'
import type { Observation } from '@muster/core/system'
import { Client, type Entry, escapeFilter, InvalidCredentialsError, ResultCodeError } from 'ldapts'
import type { Identity } from './identity.ts'

const TIMEOUT_MS = 10_000
const MAX_GROUPS = 5000
const MAX_INPUT = 256
/** Attributes that identify an entry permanently: of OpenLDAP, 389 Directory Server and Active Directory. */
const IDS = ['entryUUID', 'nsUniqueId', 'objectGUID']
const ATTRIBUTES = ['mail', 'displayName', 'cn', ...IDS]

export const WRONG_LDAP_PASSWORD = 'The user name or the password is wrong.'

export type Ldap = NonNullable<ReturnType<typeof createLdap>>

/**
 * The LDAP directory of the installation. A service account searches the user, and a bind checks the password. All connections are
 * encrypted, and the certificate is checked.
 * @throws Error when settings are missing, or a file cannot be read
 */
export function createLdap(
  config: Config<typeof ldapSettings>,
  { defaultTenant, localTargets }: { defaultTenant: string; localTargets: readonly LocalTarget[] },
) {
  const { LDAP_URL, LDAP_BIND_DN, LDAP_USER_BASE, LDAP_GROUP_BASE } = config
  if (!LDAP_URL) return null
  if (!LDAP_USER_BASE || !LDAP_GROUP_BASE)
    throw new Error('LDAP_URL requires LDAP_USER_BASE and LDAP_GROUP_BASE, the DNs below which Muster searches users and groups.')
  const url = new URL(LDAP_URL)
  const isSecure = url.protocol === 'ldaps:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(url.port) || (isSecure ? 636 : 389)
  const bindPassword = readSecret('LDAP_BIND_PASSWORD_FILE', config.LDAP_BIND_PASSWORD_FILE)
  if (LDAP_BIND_DN && !bindPassword) throw new Error('LDAP_BIND_DN requires LDAP_BIND_PASSWORD_FILE.')
  const ca = readSecret('LDAP_CA_FILE', config.LDAP_CA_FILE)
  const tls = { ...(ca ? { ca } : {}), ...(isIP(host) ? { host } : { host, servername: host }) }

  /** Runs `work` with an encrypted connection to the checked address, and closes it. */
  async function connected<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const address = (await resolveTarget(host, port, localTargets))[0]!.address
    // The library connects again after a loss, without encryption for ldap://. Such an attempt fails here.
    let isUsed = false
    const once = <T>(open: () => T): T => {
      if (isUsed) throw new Error('the connection was lost')
      isUsed = true
      return open()
    }
    // The library passes its own parsed URL, which is ignored.
    const createSecureConnection = (() => once(() => overTls({ ...tls, host: address, port }))) as unknown as typeof overTls
    const createConnection = (() => once(() => overTcp({ host: address, port }))) as unknown as typeof overTcp
    const client = new Client({
      url: LDAP_URL!,
      timeout: TIMEOUT_MS,
      connectTimeout: TIMEOUT_MS,
      ...(isSecure ? { createSecureConnection } : { createConnection }),
    })
    try {
      if (!isSecure) await client.startTLS({ ...tls })
      return await work(client)
    } finally {
      await client.unbind().catch(() => {})
    }
  }

  const bindAsService = async (client: Client) => {
    if (LDAP_BIND_DN) await client.bind(LDAP_BIND_DN, bindPassword!)
  }

  /** The only entry of the user; null when there is none, or several. */
  async function findUser(client: Client, user: string): Promise<Entry | null> {
    const filter = config.LDAP_USER_FILTER.replaceAll('{user}', () => escapeFilter`${user}`)
    const found = await client.search(LDAP_USER_BASE!, {
      scope: 'sub',
      filter,
      sizeLimit: 2,
      attributes: ATTRIBUTES,
      explicitBufferAttributes: ['objectGUID'],
    })
    return found.searchEntries.length === 1 ? found.searchEntries[0]! : null
  }

  /** Names and DNs of the user's groups. */
  async function groupsOf(client: Client, dn: string, user: string): Promise<string[]> {
    const values = { dn: escapeFilter`${dn}`, user: escapeFilter`${user}` }
    const filter = config.LDAP_GROUP_FILTER.replace(/\{(dn|user)\}/g, (_, name: 'dn' | 'user') => values[name])
    const found = await client.search(LDAP_GROUP_BASE!, { scope: 'sub', filter, sizeLimit: MAX_GROUPS, attributes: ['cn'] })
    return found.searchEntries.flatMap((entry) => [entry.dn, ...texts(entry.cn)])
  }

  /** Whether a bind with the password succeeds. */
  const opens = (dn: string, password: string): Promise<boolean> =>
    connected(async (client) => {
      try {
        await client.bind(dn, password)
        return true
      } catch (error) {
        // Also a locked account, and an entry without a password.
        if (error instanceof ResultCodeError) return false
        throw error
      }
    })

  return {
    name: config.LDAP_NAME ?? host,
    address: `${url.protocol}//${url.host}`,
    roles: config.LDAP_ROLES,

    /**
     * The person with this name and password.
     * @param onFound called with the subject of the entry, or null, before the password is checked; an error ends the attempt
     * @throws Unauthenticated, with one message for all causes; Unavailable
     */
    async authenticate(
      user: string,
      password: string,
      onFound: (subject: string | null) => Promise<void> = async () => {},
    ): Promise<Identity> {
      const wrong = () => new Unauthenticated(WRONG_LDAP_PASSWORD)
      // A bind without a password succeeds for every user: RFC 4513, 5.1.2.
      if (user === '' || password === '' || user.length > MAX_INPUT || password.length > MAX_INPUT) throw wrong()
      try {
        return await connected(async (client) => {
          await bindAsService(client)
          const entry = await findUser(client, user)
          await onFound(entry && idOf(entry))
          // Unknown users take as long as wrong passwords.
          const isRight = await opens(entry?.dn ?? `cn=${randomUUID()},${LDAP_USER_BASE}`, password)
          if (!entry || !isRight) throw wrong()
          const groups = await groupsOf(client, entry.dn, user)
          return {
            subject: idOf(entry),
            email: texts(entry.mail)[0] ?? null,
            // Users can change the attribute in many directories.
            isEmailVerified: false,
            name: (texts(entry.displayName)[0] ?? texts(entry.cn)[0] ?? user).slice(0, 100),
            groups,
            roles: rolesOf(groups, config.LDAP_ROLES, defaultTenant, (one, other) => normalized(one) === normalized(other)),
          }
        })
      } catch (error) {
        throw errorOf(error)
      }
    },

    /** Connects, binds as the service account and searches the two base entries. */
    async check(): Promise<Observation[]> {
      const finding = (severity: Observation['severity'], message: string, nextStep: string | null): Observation[] => [
        { check: 'SIGN_IN', severity, message, nextStep },
      ]
      try {
        return await connected(async (client) => {
          await bindAsService(client)
          for (const [setting, base] of Object.entries({ LDAP_USER_BASE, LDAP_GROUP_BASE })) {
            const isThere = await client.search(base!, { scope: 'base', attributes: ['1.1'] }).then(
              ({ searchEntries }) => searchEntries.length > 0,
              (error) => {
                if (error instanceof ResultCodeError) return false
                throw error
              },
            )
            if (!isThere)
              return finding(
                'ERROR',
                `${host} has no entry ${base}, or the service account may not read it.`,
                `Correct ${setting}, or the access rules of the directory.`,
              )
          }
          if (config.LDAP_ROLES.length === 0)
            return finding(
              'WARNING',
              `${host} responds, but no group has a role, so no one can sign in with it.`,
              'Set LDAP_ROLES, for example to {"gpu-admins": "admin"}.',
            )
          return finding('OK', `${host} responds, with a trusted certificate.`, null)
        })
      } catch (error) {
        const nextStep = 'Check LDAP_URL, LDAP_BIND_DN and LDAP_BIND_PASSWORD_FILE, and that the API can reach the directory.'
        return finding('ERROR', errorOf(error).message, nextStep)
      }
    },
  }

  /** Errors of the connection and of the service account. Text of the server is not quoted. */
  function errorOf(error: unknown): DomainError {
    if (error instanceof DomainError) return error
    if (error instanceof TargetError) return new Unavailable(error.message)
    if (error instanceof InvalidCredentialsError)
      return new Unavailable(`${host} rejects the service account. Check LDAP_BIND_DN and LDAP_BIND_PASSWORD_FILE.`)
    if (error instanceof ResultCodeError) return new Unavailable(`${host} rejects the search (LDAP result ${error.code}).`)
    const { code } = error as { code?: unknown }
    const text = typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'no response'
    const problem = certificateProblem({ code }, 'its CA in LDAP_CA_FILE')
    if (problem) return new Unavailable(`${host} ${problem}.`)
    return new Unavailable(`${host} cannot be reached with TLS (${text}). Check LDAP_URL.`)
  }
}

function readSecret(setting: string, file: string | undefined): string | null {
  if (!file) return null
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`${setting} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

const texts = (value: Entry[string] | undefined): string[] =>
  [value ?? []].flat().flatMap((each) => (typeof each === 'string' && each !== '' ? each : []))

function idOf(entry: Entry): string {
  for (const name of IDS) {
    const value = [entry[name] ?? []].flat()[0]
    if (value?.length) return `${name}=${Buffer.isBuffer(value) ? value.toString('hex') : value}`
  }
  return `dn=${normalized(entry.dn)}`
}

/** DNs and names of groups do not distinguish case, nor spaces around separators. */
const normalized = (name: string) => name.toLowerCase().replace(/\s*([,=+])\s*/g, '$1')
