import fs from 'node:fs'
import path from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }

/** `manifest.json` of a backup. A folder without one is an incomplete backup. */
export type Manifest = {
  format: 1
  /** Version of Muster that created the backup. */
  version: string
  createdAt: string
  /** `embedded`: files of the embedded Postgres, below postgres/. `dump`: the file database.dump of pg_dump. */
  database: { kind: 'embedded' | 'dump'; postgresVersion: string }
  /** Where artifacts are: below artifacts/ of the backup, or in a bucket that the backup does not contain. */
  artifacts: { kind: 'files' } | { kind: 'bucket'; name: string }
  /** SHA-256 and size of every file, by its path in the backup. */
  files: Record<string, { bytes: number; sha256: string }>
  /** Empty directories that Postgres requires. */
  folders: string[]
}

export const { version } = packageJson
const NAME = 'manifest.json'

/** Writes the manifest to a backup that is otherwise complete. */
export function writeManifest(dir: string, manifest: Manifest): void {
  fs.writeFileSync(path.join(dir, NAME), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600, flush: true })
}

/** @throws Error when `dir` is not a complete backup, or a newer version created it */
export function readManifest(dir: string): Manifest {
  const manifest = parse(path.join(dir, NAME))
  if (!manifest)
    throw new Error(
      `${dir} is not a complete backup: it has no valid ${NAME}. Name a directory created by bin/muster-admin backup.`,
    )
  if (manifest.format !== 1)
    throw new Error(
      `${dir} was created by Muster ${manifest.version}, which is newer than this version ${version}. Restore it with that version.`,
    )
  return manifest
}

function parse(file: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as Manifest
    return typeof manifest.format === 'number' && typeof manifest.files === 'object' ? manifest : undefined
  } catch {
    return undefined
  }
}
