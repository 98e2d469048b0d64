import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CliError, EXIT, NotSignedIn } from './errors.ts'

export type Settings = { url: string; token: string }

const file = () => join(process.env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'muster', 'cli.json')

/** Address and token: MUSTER_URL and MUSTER_TOKEN, or what `muster login` saved. @throws NotSignedIn */
export function readSettings(): Settings {
  let saved: Partial<Settings> = {}
  try {
    saved = JSON.parse(readFileSync(file(), 'utf8')) as Partial<Settings>
  } catch {
    // No saved settings; the environment may provide both.
  }
  const url = process.env.MUSTER_URL ?? saved.url
  const token = process.env.MUSTER_TOKEN ?? saved.token
  if (!url || !token) throw new NotSignedIn('Not signed in. Run `muster login URL`, or set MUSTER_URL and MUSTER_TOKEN.')
  if (!URL.canParse(url))
    throw new CliError(`MUSTER_URL is not a valid address: ${url}. Example: http://localhost:3000`, EXIT.usage)
  return { url, token }
}

/** Saves the settings, readable only by the owner. @returns path of the file */
export function saveSettings(settings: Settings): string {
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 })
  rmSync(file(), { force: true })
  writeFileSync(file(), `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 })
  return file()
}

/** Deletes the saved settings. */
export function deleteSettings(): void {
  rmSync(file(), { force: true })
}
