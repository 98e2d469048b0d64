import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { identify, isAlive, type ProcessIdentity } from '../process-identity.ts'
import { type RunningPostgres, type StartPostgres, startPostgres } from './start-postgres.ts'
import { stopOrphan } from './stop-orphan.ts'

const PREFIX = 'muster-test-postgres-'
const GIB = 1024 ** 3

export type TestPostgres = RunningPostgres & {
  /** Simulates a crash: stops the server like `pg_ctl stop -m immediate` and restarts it on the same port and data. */
  crash(): Promise<void>
}

/**
 * Starts a temporary Postgres without fsync, in memory where there is room. stop() removes its files.
 * With the setting fsync=on the data is on a disk.
 * If its owner is killed, the next call by the same uid stops the server and removes its files.
 */
export async function startTestPostgres(options: Pick<StartPostgres, 'settings' | 'native'> = {}): Promise<TestPostgres> {
  const parents = [...new Set(['/dev/shm', os.tmpdir()])].filter((parent) => fs.existsSync(parent))
  await removeOrphans(parents)
  const dir = fs.mkdtempSync(path.join((options.settings?.fsync !== 'on' && parents.find(hasRoom)) || os.tmpdir(), PREFIX))
  fs.writeFileSync(path.join(dir, 'owner.json'), JSON.stringify(identify(process.pid)))
  const remove = () => fs.rmSync(dir, { recursive: true, force: true })
  const start: StartPostgres = {
    dir,
    native: options.native,
    durable: false,
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '400',
      max_wal_size: '512MB',
      ...options.settings,
    },
  }
  try {
    let server = await startPostgres(start)
    const port = Number(new URL(server.url).port)
    return {
      ...server,
      async crash() {
        process.kill(server.pid, 'SIGQUIT')
        await server.exited
        server = await startPostgres({ ...start, port })
      },
      stop: () => server.stop().then(remove),
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Stops and removes servers whose owner was killed. */
async function removeOrphans(parents: string[]): Promise<void> {
  for (const parent of parents) {
    for (const name of fs.readdirSync(parent).filter((entry) => entry.startsWith(PREFIX))) {
      const dir = path.join(parent, name)
      const owner = readOwner(dir)
      if (!owner || isAlive(owner)) continue
      await stopOrphan(path.join(dir, 'data'))
      fs.rmSync(dir, { recursive: true, force: true })
    }
  }
}

/** Undefined for another user's folder and for one that is being created. */
function readOwner(dir: string): ProcessIdentity | undefined {
  try {
    if (fs.lstatSync(dir).uid !== process.getuid?.()) return undefined
    return JSON.parse(fs.readFileSync(path.join(dir, 'owner.json'), 'utf8'))
  } catch {
    return undefined
  }
}

function hasRoom(dir: string): boolean {
  try {
    fs.accessSync(dir, fs.constants.W_OK | fs.constants.X_OK)
    const { bavail, bsize } = fs.statfsSync(dir)
    return bavail * bsize >= GIB
  } catch {
    return false
  }
}
