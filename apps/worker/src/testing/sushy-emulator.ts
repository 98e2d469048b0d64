import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { freePort } from './free-port.ts'

export const SUSHY_LOGIN = { username: 'admin', password: 'password of BMCs' }
/** The password as bcrypt hash, the only form that the emulator reads. */
const AUTH_LINE = 'admin:$2b$04$tkVDiVQ1rnZkMArPQb4SouT1ggGRHSOujM6r3ZmsoInSYbVoCEAb2'
export type SushySystem = { uuid: string; name: string; mac: string }
export type SushyEmulator = { port: number; stop(): Promise<void> }

/** The emulator delays each power change by a random time of up to 11 seconds. This selects the minimum, below a second. */
const MAIN = 'import random; random.randint = lambda low, high: low; from sushy_tools.emulator.main import main; main()'

/** sushy-emulator of OpenStack with its driver for fake machines. `npm test` sets its folder in SUSHY_TOOLS. */
export async function startSushyEmulator(
  certificate: { key: string; cert: string },
  systems: readonly SushySystem[],
): Promise<SushyEmulator> {
  const home = await mkdtemp(join(tmpdir(), 'muster-sushy-'))
  const port = await freePort()
  const machines = systems.map(({ uuid, name, mac }) => ({ uuid, name, power_state: 'Off', nics: [{ mac, ip: '192.0.2.1' }] }))
  const config = [
    `SUSHY_EMULATOR_AUTH_FILE = '${home}/auth'`,
    `SUSHY_EMULATOR_STATE_DIR = '${home}'`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = ${JSON.stringify(machines)}`,
  ]
  await writeFile(join(home, 'auth'), `${AUTH_LINE}\n`)
  await writeFile(join(home, 'config.py'), config.join('\n'))
  await writeFile(join(home, 'cert.pem'), certificate.cert)
  await writeFile(join(home, 'key.pem'), certificate.key, { mode: 0o600 })
  const tls = ['--ssl-certificate', 'cert.pem', '--ssl-key', 'key.pem']
  const args = ['-c', MAIN, '--fake', '--config', 'config.py', '--interface', '127.0.0.1', '--port', String(port), ...tls]
  const env = { PATH: process.env.PATH, PYTHONPATH: process.env.SUSHY_TOOLS, HOME: home }
  let log = ''
  const child: ChildProcess = spawn(process.env.TEST_PYTHON!, args, { cwd: home, env, stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  await vi.waitFor(
    () => {
      if (!log.includes(`Running on https://127.0.0.1:${port}`)) throw new Error(`sushy-emulator has not started: ${log}`)
    },
    { timeout: 60_000 },
  )
  return {
    port,
    async stop() {
      child.kill('SIGKILL')
      await ended
      await rm(home, { recursive: true, force: true })
    },
  }
}
