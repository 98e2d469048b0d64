import fs from 'node:fs'
import path from 'node:path'
import { type BootResult, boot } from './boot.ts'
import { claimDataDir } from './instance-file.ts'
import { openLogFile } from './log-file.ts'
import { reservePort } from './ports.ts'
import { type SupervisedPostgres, supervisePostgres } from './postgres/supervise-postgres.ts'
import { print } from './print.ts'
import { proxyIssue, readSettings, type Settings } from './settings.ts'
import { createSupervisor } from './supervisor.ts'
import { type CertificateFiles, ensureSelfSigned, fingerprintOf } from './tls/certificate.ts'

// `npm start`: runs everything on one machine under one supervisor, until Ctrl-C or SIGTERM.
// MUSTER_STARTED_AT is when bin/setup.mjs started, so that the printed start time includes the setup.
const startedAt = Number(process.env.MUSTER_STARTED_AT) || performance.timeOrigin
delete process.env.MUSTER_STARTED_AT
const settings = orExit(() => readSettings(process.argv.slice(2), process.env))
const issue = proxyIssue(settings)
if (issue) {
  process.stderr.write(`${issue}\n`)
  process.exit(2)
}
// `settings` contains the password. Child processes must not inherit the variable.
delete process.env.CREDENTIAL_MASTER_PASSWORD
const { dataDir } = settings
const logDir = path.join(dataDir, 'logs')
fs.mkdirSync(logDir, { recursive: true, mode: 0o700 })
fs.chmodSync(dataDir, 0o700)

const instance = await claimDataDir(dataDir, print)
if (!instance.claimed) {
  print(
    `Muster is already running${instance.url ? ` at ${instance.url}` : ''}. To start another instance, set MUSTER_DATA_DIR to a different directory.`,
  )
  process.exit(0)
}

const supervisor = createSupervisor({ logDir, print, onChange: (children) => instance.update({ children }) })
const postgresLog = openLogFile(path.join(logDir, 'postgres.log'))
const booting = new AbortController()
let postgres: SupervisedPostgres | undefined
let stopping: Promise<never> | undefined
let firstSignal = 0

// A closed output pipe (`npm start | head`) must not prevent an orderly shutdown.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
process.on('SIGINT', onSignal)
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
process.once('disconnect', onSignal).channel?.unref()

try {
  const preferredPort = settings.port
  // Reserved now because the console binds it only after its build.
  const consolePort = await reservePort(preferredPort, settings.host)
  settings.port = consolePort.port
  if (settings.port !== preferredPort) print(`  Port ${preferredPort} is in use; the console uses ${settings.port}`)
  const publicUrl = settings.publicUrl?.replace(/\/$/, '') ?? `http${settings.tls ? 's' : ''}://localhost:${settings.port}`
  const tls = settings.tls === 'self-signed' ? await ensureSelfSigned(dataDir, publicUrl) : settings.tls
  instance.update({ url: publicUrl })
  const result = await boot({
    settings,
    publicUrl,
    tls,
    supervisor,
    releasePort: consolePort.release,
    signal: booting.signal,
    startPostgres: () => {
      postgres = supervisePostgres(path.join(dataDir, 'postgres'), postgresLog.write, print)
      return postgres.url
    },
  })
  if (!stopping) printSummary(publicUrl, result, settings, tls)
} catch (error) {
  if (!stopping) {
    const failed = error as Error & { step?: string }
    print(`\n${failed.step ?? 'Start'} failed: ${failed.message}\n\nLogs: ${logDir}`)
    await shutDown(1)
  }
}

/** The first signal shuts down in order; a second one kills. npm repeats a Ctrl-C within a second, which does not count. */
function onSignal(): void {
  if (stopping) {
    if (performance.now() - firstSignal > 1_000) supervisor.kill()
    return
  }
  firstSignal = performance.now()
  print('\nStopping …')
  void shutDown(0)
}

function shutDown(code: number): Promise<never> {
  stopping ??= (async () => {
    booting.abort()
    await supervisor.stop(['console', 'api', 'worker']) // ends job runs before the lab nodes they use
    await supervisor.stop()
    await postgres?.stop()
    postgresLog.close()
    instance.claimed && instance.release()
    if (code === 0) print('Stopped.')
    process.exit(code)
  })()
  return stopping
}

function printSummary(url: string, result: BootResult, { lab, boot, tls }: Settings, files: CertificateFiles | null): void {
  const rows = [
    ['Console', url],
    ['GraphQL', `${url}/graphql`],
    result.signInLink
      ? ['Sign in', `${result.signInLink}\n${' '.repeat(12)}one-time link for ${result.email}`]
      : ['Sign in', `as ${result.email}, with your password`],
    ...(tls === 'self-signed' && files
      ? [['TLS', `${files.certFile}\n${' '.repeat(12)}self-signed, ${fingerprintOf(files.certFile)}`]]
      : []),
    ...(result.lab ? [['Lab', labSummary(lab, result.lab.nodesToAdd)]] : []),
    ...(result.lab && boot ? [['Machines', machinesSummary(result.lab)]] : []),
    ...(/rejected|not isolated/.test(result.isolation) ? [['Sandbox', result.isolation]] : []),
    ['Data', dataDir],
    ['Logs', logDir],
    ['Stop', 'Ctrl-C'],
  ]
  print(`\nMuster started in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`)
  for (const [name, text] of rows) print(`  ${name!.padEnd(9)} ${text}`)
  print('')
}

function labSummary(nodes: number, waiting: number): string {
  if (waiting === 0) return `${nodes} nodes running, all of them added`
  const which = waiting < nodes ? `${waiting} of ${nodes} nodes` : `${nodes} nodes`
  return `${which} ready under "Add nodes", credentials included`
}

function machinesSummary({ machines }: NonNullable<BootResult['lab']>): string {
  if (!machines) return `none can boot from the network here; ${path.join(logDir, 'lab.log')} has the reason`
  return `${machines.count} machines are switched off. Add them: bin/muster apply -f ${machines.manifests}`
}

function orExit<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(2)
  }
}
