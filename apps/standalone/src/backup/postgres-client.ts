import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import pg from 'pg'

/**
 * Runs pg_dump or pg_restore against a database. The password is in a private file: arguments and environments are visible to others.
 * @throws Error when the program is missing or fails; with the end of its output, which contains no password
 */
export async function runPostgresClient(program: 'pg_dump' | 'pg_restore', url: string, args: string[]): Promise<void> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-pgpass-'))
  try {
    const { host, port, user, database, password } = new pg.Client({ connectionString: url })
    const field = (text: unknown) => String(text ?? '').replaceAll(/[\\:]/g, String.raw`\$&`)
    const passFile = path.join(dir, 'pgpass')
    fs.writeFileSync(passFile, `*:*:*:*:${field(password)}\n`, { mode: 0o600 })
    const parameters = new URL(url).search
    const target = `postgres://${encodeURIComponent(user ?? '')}@/${encodeURIComponent(database ?? '')}${parameters}`
    const child = spawn(program, [`--dbname=${target}`, '--no-password', ...args], {
      env: {
        PATH: process.env.PATH,
        LC_ALL: 'C.UTF-8',
        PGPASSFILE: passFile,
        PGHOST: host,
        PGPORT: String(port),
        PGAPPNAME: 'muster-backup',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let output = ''
    child.stderr.on('data', (chunk) => (output = (output + chunk).slice(-2000)))
    const code = await new Promise<number | string | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (status, signal) => resolve(status ?? signal))
    })
    if (code !== 0) throw new Error(`${program} failed (${code}):\n${output.trim()}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Error(
      `The database of DATABASE_URL is backed up and restored with ${program}, which is not installed. Install the PostgreSQL client of the server's version (Debian: postgresql-client), then run the command again.`,
    )
  } finally {
    fs.rmSync(dir, { recursive: true, force: true })
  }
}
