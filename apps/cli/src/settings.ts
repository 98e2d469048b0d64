import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError, EXIT, NotSignedIn } from './errors.ts'

/** `tenant` is set when a tenant was asked for; the server rejects a token of another one. */
export type Settings = { url: string; token: string; tenant?: string }
/** `tokens` has the last token of each tenant at `url`. */
type SavedSettings = Settings & { tokens: Record<string, string> }

const file = () => join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'muster', 'cli.json')

/** Address and token: MUSTER_URL and MUSTER_TOKEN, or what `muster login` saved for MUSTER_TENANT. @throws NotSignedIn */
export function readSettings(): Settings {
  const saved = readSaved()
  const tenant = process.env.MUSTER_TENANT
  const url = process.env.MUSTER_URL ?? saved.url
  const token = process.env.MUSTER_TOKEN ?? (tenant ? saved.tokens?.[tenant] : undefined) ?? saved.token
  if (!url || !token) throw new NotSignedIn('Not signed in. Run `muster login URL`, or set MUSTER_URL and MUSTER_TOKEN.')
  if (!URL.canParse(url))
    throw new CliError(`MUSTER_URL is not a valid address: ${url}. Example: http://localhost:3000`, EXIT.usage)
  return { url, token, ...(tenant ? { tenant } : {}) }
}

function readSaved(): Partial<SavedSettings> {
  try {
    return JSON.parse(readFileSync(file(), 'utf8')) as Partial<SavedSettings>
  } catch {
    // No saved settings; the environment may provide both.
    return {}
  }
}

/** Saves the settings, readable only by the owner, next to the tokens of other tenants at the same address. @returns path of the file */
export function saveSettings({ url, token, tenant }: Required<Settings>): string {
  const before = readSaved()
  const tokens = { ...(before.url === url ? before.tokens : {}), [tenant]: token }
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 })
  rmSync(file(), { force: true })
  writeFileSync(file(), `${JSON.stringify({ url, token, tokens }, null, 2)}\n`, { mode: 0o600 })
  return file()
}

/** Deletes the saved settings. */
export function deleteSettings(): void {
  rmSync(file(), { force: true })
}
