import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { type RunningPostgres, type StartPostgres, startPostgres } from './postgres.ts'
import { stopOrphan } from './postgres-orphan.ts'
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts'

const PREFIX = 'muster-test-postgres-'
const GIB = 1024 ** 3

/** A server, as it was when it was first started. */
export type TestPostgres = RunningPostgres & {
  /** Stop it at once, as `pg_ctl stop -m immediate` does, and start it again where it was: it has to recover as after a crash. */
  crash(): Promise<void>
}

/**
 * A throw-away Postgres for tests, benchmarks and the main job: no fsync, in memory where there is room, all of it gone after stop().
 * With the setting fsync on it is on a disk, where that means something.
 * When its owner is killed the next call, by anybody with the same uid, ends the server and removes its files.
 */
export async function startTestPostgres(options: { settings?: Record<string, string> } = {}): Promise<TestPostgres> {
  const places = [...new Set(['/dev/shm', os.tmpdir()])].filter((place) => fs.existsSync(place))
  await sweep(places)
  const dir = fs.mkdtempSync(path.join((options.settings?.fsync !== 'on' && places.find(hasRoom)) || os.tmpdir(), PREFIX))
  fs.writeFileSync(path.join(dir, 'owner.json'), JSON.stringify(identify(process.pid)))
  const remove = () => fs.rmSync(dir, { recursive: true, force: true })
  const given: StartPostgres = {
    dir,
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
    let server = await startPostgres(given)
    const port = Number(new URL(server.url).port)
    return {
      ...server,
      async crash() {
        process.kill(server.pid, 'SIGQUIT')
        await server.exited
        server = await startPostgres({ ...given, port })
      },
      stop: () => server.stop().then(remove),
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** Clean up after owners that were killed before they could. */
async function sweep(places: string[]): Promise<void> {
  for (const place of places) {
    for (const name of fs.readdirSync(place).filter((entry) => entry.startsWith(PREFIX))) {
      const dir = path.join(place, name)
      const owner = readOwner(dir)
      if (!owner || isAlive(owner)) continue
      await stopOrphan(path.join(dir, 'data'))
      fs.rmSync(dir, { recursive: true, force: true })
    }
  }
}

/** Undefined for somebody else's folder and for one that is only being made. */
function readOwner(dir: string): ProcessIdentity | undefined {
  try {
    if (fs.lstatSync(dir).uid !== process.getuid?.()) return undefined
    return JSON.parse(fs.readFileSync(path.join(dir, 'owner.json'), 'utf8'))
  } catch {
    return undefined
  }
}

function hasRoom(place: string): boolean {
  try {
    fs.accessSync(place, fs.constants.W_OK | fs.constants.X_OK)
    const { bavail, bsize } = fs.statfsSync(place)
    return bavail * bsize >= GIB
  } catch {
    return false
  }
}
