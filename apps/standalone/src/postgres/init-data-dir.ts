import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { RunAs } from './binaries.ts'
import { spawnOnData } from './spawn-on-data.ts'

/**
 * Creates a database cluster in `data` with the superuser `muster`, and removes an interrupted attempt first.
 * initdb runs in `data`.new, which is renamed when complete: it writes PG_VERSION early, and callers take that file as complete.
 */
export async function initDataDir(options: {
  native: string
  data: string
  runAs: RunAs
  password: string
  durable: boolean
}): Promise<void> {
  const { native, data, runAs, password, durable } = options
  const fresh = `${data}.new`
  for (const leftover of [fresh, data]) fs.rmSync(leftover, { recursive: true, force: true })
  fs.mkdirSync(fresh, { mode: 0o700 })
  // initdb reads the password from a file that its user must be able to read.
  const passwordDir = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-initdb-'))
  const passwordFile = path.join(passwordDir, 'password')
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  if (runAs) for (const file of [fresh, passwordDir, passwordFile]) fs.chownSync(file, runAs.uid, runAs.gid)
  try {
    const child = spawnOnData(path.join(native, 'bin/initdb'), fresh, runAs, (dataDir) => [
      ...['-D', dataDir, '-U', 'muster', '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
      ...['--no-locale', '--encoding=UTF8', '--no-instructions', ...(durable ? [] : ['--no-sync'])],
    ])
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output = (output + chunk).slice(-2000)))
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (code !== 0) throw new Error(`initdb failed to create the data directory ${data}:\n${output.trim()}`)
    fs.renameSync(fresh, data)
  } finally {
    fs.rmSync(passwordDir, { recursive: true, force: true })
  }
}
