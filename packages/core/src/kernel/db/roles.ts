import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { Conflict } from '../errors.ts'
import { type RoleUrls, userOf } from './role-urls.ts'

/** Attributes of both roles; BYPASSRLS differs. */
const ATTRIBUTES = 'login nosuperuser nocreatedb nocreaterole noreplication'
const INSUFFICIENT_PRIVILEGE = '42501'
/** SQLSTATEs of a role or row that another migration created at the same time. */
const EXISTS = ['42710', '23505', 'XX000']

/**
 * Creates the roles of `urls` or sets their passwords, unless they can already connect. Roles belong to the whole server, so other
 * databases may use them too.
 * @throws Conflict with the SQL for the administrator of the database when the owner may not create roles
 */
export async function ensureRoles(owner: pg.Client, urls: RoleUrls): Promise<void> {
  const roles = [
    { url: urls.app, bypass: 'nobypassrls' },
    { url: urls.system, bypass: 'bypassrls' },
  ]
  const missing: string[] = []
  // Without it the owner could neither change nor back up rows of all tenants.
  const { rowCount: isBound } = await owner.query(
    'select from pg_roles where rolname = current_user and not (rolsuper or rolbypassrls)',
  )
  if (isBound) missing.push(`alter role ${pg.escapeIdentifier(owner.user!)} bypassrls;`)
  for (const { url, bypass } of roles) {
    if (await isUsable(url, bypass === 'bypassrls')) continue
    const attempt = async () => {
      const { rowCount } = await owner.query('select from pg_roles where rolname = $1', [userOf(url)])
      const statement = `${rowCount ? 'alter' : 'create'} role ${pg.escapeIdentifier(userOf(url))} ${ATTRIBUTES} ${bypass}${passwordClause(url)}`
      await owner.query(statement).catch((error) => {
        if (error.code !== INSUFFICIENT_PRIVILEGE) throw error
        missing.push(`${statement};`)
      })
    }
    await attempt().catch((error) => {
      if (!EXISTS.includes(error.code)) throw error
      return attempt()
    })
  }
  if (missing.length > 0)
    throw new Conflict(
      `The user ${owner.user} of DATABASE_URL lacks rights, or may not create the database roles of Muster. Ask the administrator of the database to run this SQL, then repeat the migration:\n\n${missing.join('\n')}\n`,
    )
}

/** Whether the role can connect and has the right attributes. */
async function isUsable(url: string, bypassesRls: boolean): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  try {
    await client.connect()
    const { rows } = await client.query<{ isRight: boolean }>(
      `select rolbypassrls = $1 and not (rolsuper or rolcreaterole or rolcreatedb) as "isRight" from pg_roles where rolname = current_user`,
      [bypassesRls],
    )
    return rows[0]!.isRight
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

/** The password as a SCRAM-SHA-256 verifier, so that neither the server's log nor an administrator sees it. */
function passwordClause(url: string): string {
  const { password } = new URL(url)
  if (!password) return ''
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(decodeURIComponent(password), salt, iterations, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64')
  const serverKey = hmac('Server Key').toString('base64')
  return ` password 'SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}'`
}
