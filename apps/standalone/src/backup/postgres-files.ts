import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { type Copied, copyFile, listFiles } from './copy-files.ts'

type Files = Map<string, Copied>

/**
 * Copies the cluster of a running Postgres to `to` as a base backup: files between pg_backup_start and pg_backup_stop, then the WAL of
 * that time, which recovery needs. A temporary replication slot retains the WAL. The embedded packages contain no pg_basebackup.
 * Files and exclusions: https://www.postgresql.org/docs/18/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 * @returns the copied files by their path in `to`, and the directories that are empty there
 */
export async function copyRunningCluster(url: string, data: string, to: string): Promise<{ files: Files; folders: string[] }> {
  const client = new pg.Client({ connectionString: url, application_name: 'muster-backup' })
  client.on('error', () => {}) // the next query reports it
  await client.connect()
  try {
    // Several backups may run at the same time; the slot disappears with the session.
    await client.query(`select pg_create_physical_replication_slot('muster_backup_' || pg_backend_pid(), true, true)`)
    await client.query(`select pg_backup_start('muster', fast => true)`)
    const { files: names, folders } = listFiles(data, isNotCopied)
    // pg_control last: it must not be older than any other file.
    names.sort((a, b) => Number(a === CONTROL) - Number(b === CONTROL))
    const files: Files = new Map()
    for (const name of names) {
      const copied = await copyFile(path.join(data, name), path.join(to, name))
      if (copied) files.set(name, copied)
    }
    const { rows } = await client.query<{ label: string; last: string }>(
      `select labelfile as label, pg_walfile_name(lsn) as last from pg_backup_stop(wait_for_archive => false)`,
    )
    const { label, last } = rows[0]!
    for (const name of walBetween(listFiles(data, (each) => !each.startsWith('pg_wal')).files, label, last)) {
      const copied = await copyFile(path.join(data, name), path.join(to, name))
      if (!copied) throw new Error(`The WAL file ${name} was removed during the backup. Run it again.`)
      files.set(name, copied)
    }
    files.set('backup_label', writeCopied(path.join(to, 'backup_label'), label))
    return { files, folders: [...folders.filter((folder) => folder !== 'pg_wal'), 'pg_wal/archive_status', 'pg_wal/summaries'] }
  } finally {
    await client.end()
  }
}

/** Copies the cluster of a stopped Postgres. */
export async function copyStoppedCluster(data: string, to: string): Promise<{ files: Files; folders: string[] }> {
  const { files: names, folders } = listFiles(data, (name) => PROCESS_FILES.has(name))
  const files: Files = new Map()
  for (const name of names) {
    const copied = await copyFile(path.join(data, name), path.join(to, name))
    if (!copied)
      throw new Error(
        `${path.join(data, name)} was removed during the backup. Stop the Postgres that uses it, then back up again.`,
      )
    files.set(name, copied)
  }
  return { files, folders }
}

const CONTROL = 'global/pg_control'
const PROCESS_FILES = new Set(['postmaster.pid', 'postmaster.opts'])
/** Directories with contents that Postgres creates again; the directories themselves must exist. */
const RECREATED = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//
const TEMPORARY = /(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*|backup_label|backup_manifest)$/

const isNotCopied = (name: string): boolean => PROCESS_FILES.has(name) || RECREATED.test(name) || TEMPORARY.test(name)

/** WAL segments from the start of the backup to its end, and timeline histories. Names of segments sort by position. */
function walBetween(names: string[], label: string, last: string): string[] {
  const first = /START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)/.exec(label)?.[1]
  const segments = names.filter((name) => {
    const segment = /^pg_wal\/([0-9A-F]{24})$/.exec(name)?.[1]
    return segment !== undefined && first !== undefined && segment >= first && segment <= last
  })
  for (const needed of [first, last])
    if (!segments.includes(`pg_wal/${needed}`)) throw new Error(`The WAL file ${needed} is missing. Run the backup again.`)
  return [...segments, ...names.filter((name) => /^pg_wal\/[0-9A-F]{8}\.history$/.test(name))]
}

function writeCopied(file: string, text: string): Copied {
  fs.writeFileSync(file, text, { mode: 0o600, flush: true })
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') }
}
