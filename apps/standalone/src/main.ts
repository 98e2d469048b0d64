import fs from 'node:fs'
import path from 'node:path'
import { boot, type Up } from './boot.ts'
import { type KeptPostgres, keepPostgres } from './keep-postgres.ts'
import { openLogFile } from './log-file.ts'
import { holdPort } from './ports.ts'
import { claimRun } from './run-file.ts'
import { say } from './say.ts'
import { readSettings, type Settings } from './settings.ts'
import { createSupervisor } from './supervisor.ts'

// `npm start`: everything on one machine under one supervisor, until Ctrl-C or SIGTERM.
// People wait from the moment they typed the command: the set-up before us, if there was one, says when that was.
const startedAt = Number(process.env.MUSTER_STARTED_AT) || performance.timeOrigin
delete process.env.MUSTER_STARTED_AT
const settings = orExit(() => readSettings(process.argv.slice(2), process.env))
// It is in the settings now, and nothing that we start inherits it.
delete process.env.CREDENTIAL_MASTER_PASSWORD
const { dataDir } = settings
const logDir = path.join(dataDir, 'logs')
fs.mkdirSync(logDir, { recursive: true, mode: 0o700 })
fs.chmodSync(dataDir, 0o700)

const run = await claimRun(dataDir, say)
if (!run.claimed) {
  say(
    `Muster already runs${run.url ? ` at ${run.url}` : ''}. To start another, give it a data directory of its own: MUSTER_DATA_DIR=….`,
  )
  process.exit(0)
}

const supervisor = createSupervisor({ logDir, say, onChange: (children) => run.update({ children }) })
const postgresLog = openLogFile(path.join(logDir, 'postgres.log'))
const booting = new AbortController()
let postgres: KeptPostgres | undefined
let stopping: Promise<never> | undefined
let firstSignal = 0

// Whoever read our output may be gone (`npm start | head`): that must not keep us from ending everything in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
process.on('SIGINT', onSignal)
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
process.once('disconnect', onSignal).channel?.unref()

try {
  const wanted = settings.port
  // The console binds it when it is built, which can take minutes.
  const consolePort = await holdPort(wanted, settings.host)
  settings.port = consolePort.port
  if (settings.port !== wanted) say(`  Port ${wanted} is taken; the console takes ${settings.port}`)
  const publicUrl = settings.publicUrl?.replace(/\/$/, '') ?? `http://localhost:${settings.port}`
  run.update({ url: publicUrl })
  const first = await boot({
    settings,
    publicUrl,
    supervisor,
    releasePort: consolePort.release,
    signal: booting.signal,
    startPostgres: () => {
      postgres = keepPostgres(path.join(dataDir, 'postgres'), postgresLog.write, say)
      return postgres.url
    },
  })
  if (!stopping) showWhatIsUp(publicUrl, first, settings)
} catch (error) {
  if (!stopping) {
    const failed = error as Error & { step?: string }
    say(`\n${failed.step ?? 'The start'} failed: ${failed.message}\n\nLogs: ${logDir}`)
    await shutDown(1)
  }
}

/** The first signal ends everything in order. A later one (not the same Ctrl-C coming through npm again) ends it at once. */
function onSignal(): void {
  if (stopping) {
    if (performance.now() - firstSignal > 1_000) supervisor.kill()
    return
  }
  firstSignal = performance.now()
  say('\nStopping …')
  void shutDown(0)
}

function shutDown(code: number): Promise<never> {
  stopping ??= (async () => {
    booting.abort()
    await supervisor.stop(['console', 'api', 'worker']) // runs end before the nodes they run on
    await supervisor.stop()
    await postgres?.stop()
    postgresLog.close()
    run.claimed && run.release()
    if (code === 0) say('Stopped.')
    process.exit(code)
  })()
  return stopping
}

function showWhatIsUp(url: string, first: Up, { lab }: Settings): void {
  const rows = [
    ['Console', url],
    ['GraphQL', `${url}/graphql`],
    first.signInLink
      ? ['Sign in', `${first.signInLink}\n${' '.repeat(12)}works once, for ${first.email}`]
      : ['Sign in', `with your password, as ${first.email}`],
    ...(lab ? [['Lab', labLine(lab, first.labWaiting)]] : []),
    ['Data', dataDir],
    ['Logs', logDir],
    ['Stop', 'Ctrl-C'],
  ]
  say(`\nMuster is up after ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`)
  for (const [name, text] of rows) say(`  ${name!.padEnd(9)} ${text}`)
  say('')
}

function labLine(nodes: number, waiting: number): string {
  if (waiting === 0) return `${nodes} nodes are up; all of them are added already`
  const which = waiting < nodes ? `${waiting} of ${nodes} nodes` : `${nodes} nodes`
  return `${which} are offered under "Add nodes", their credentials are prepared`
}

function orExit<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(2)
  }
}
