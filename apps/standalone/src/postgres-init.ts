import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { RunAs } from './postgres-binaries.ts'
import { spawnOnData } from './postgres-spawn.ts'

/**
 * Make a cluster in `data` with the superuser `muster`. An earlier attempt that was cut short is thrown away first
 * (PG_VERSION, which the caller looks for, is among the first files that initdb writes: so it works in a folder beside
 * and the finished one is renamed into place).
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
  for (const left of [fresh, data]) fs.rmSync(left, { recursive: true, force: true })
  fs.mkdirSync(fresh, { mode: 0o700 })
  // initdb reads the password from a file, which its user must be able to reach.
  const handover = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-initdb-'))
  const passwordFile = path.join(handover, 'password')
  fs.writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  if (runAs) for (const file of [fresh, handover, passwordFile]) fs.chownSync(file, runAs.uid, runAs.gid)
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
    if (code !== 0) throw new Error(`Postgres could not make its data directory ${data}:\n${output.trim()}`)
    fs.renameSync(fresh, data)
  } finally {
    fs.rmSync(handover, { recursive: true, force: true })
  }
}
