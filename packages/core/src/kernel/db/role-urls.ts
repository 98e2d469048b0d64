import { createHash, createHmac } from 'node:crypto'
import fs from 'node:fs'

/**
 * URLs of the roles that Muster's processes connect as. `app` is subject to row-level security. `system` bypasses it, for statements
 * over all tenants. Neither can change the schema; only the owner, who migrates, can.
 */
export type RoleUrls = { app: string; system: string }

/**
 * The URLs of both roles. Each that is not given is derived from the owner's URL: user `OWNER_app` or `OWNER_system`, with a password
 * that is computed from the owner's and does not reveal it.
 * @throws Error when neither is set
 */
export function roleUrls(env: {
  DATABASE_URL?: string | undefined
  DATABASE_APP_URL?: string | undefined
  DATABASE_SYSTEM_URL?: string | undefined
}): RoleUrls {
  const { DATABASE_URL: owner, DATABASE_APP_URL: app, DATABASE_SYSTEM_URL: system } = env
  const derive = (role: string) => {
    if (!owner) throw new Error('Set DATABASE_APP_URL and DATABASE_SYSTEM_URL, or DATABASE_URL, from which both are derived.')
    return derivedUrl(owner, role)
  }
  return { app: app || derive('app'), system: system || derive('system') }
}

function derivedUrl(owner: string, role: string): string {
  const url = new URL(owner)
  const user = `${decodeURIComponent(url.username) || 'muster'}_${role}`
  url.username = encodeURIComponent(user)
  // Without a password the server authenticates both roles as it authenticates the owner.
  if (url.password)
    url.password = createHmac('sha256', decodeURIComponent(url.password)).update(`muster role ${user}`).digest('base64url')
  return url.href
}

export const userOf = (url: string): string => decodeURIComponent(new URL(url).username)

/**
 * Identifies the rules that this version applies for roles of these names; the migration stores it as the comment on the schema
 * `drizzle`. It depends on the code of the rules, and on package.json, which has the version of pg-boss.
 */
export function rulesId(roles: { app: string; system: string }): string {
  const files = ['./row-security.ts', '../../../package.json'].map((file) => fs.readFileSync(new URL(file, import.meta.url)))
  return `${createHash('sha256').update(files.join()).digest('hex')} ${roles.app} ${roles.system}`
}
