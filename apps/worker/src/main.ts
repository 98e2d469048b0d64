import { unsupportedSettings } from '@muster/core/config'
import { createLog, type Log, reasonOf } from '@muster/core/log'
import { loadWorkerConfig, type WorkerConfig } from './config.ts'
import { startWorker } from './start.ts'

/** A worker process: runs until SIGTERM or SIGINT; a second signal exits at once. SIGUSR2 drains it. */
async function main(config: WorkerConfig, log: Log): Promise<void> {
  const starting = new AbortController()
  const stopRequested = new Promise<void>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      process.on(name, () => {
        if (starting.signal.aborted) process.exit(1)
        starting.abort(new Error(`stopped by ${name}`))
        resolve()
      })
  })
  const worker = await startWorker(config, log, starting.signal).catch((error: unknown) => {
    if (!starting.signal.aborted) throw error
    return null
  })
  if (!worker) return log.info('stopped before the database responded')
  process.on('SIGUSR2', worker.drain)
  await stopRequested
  await worker.stop()
  log.info('the worker has stopped')
}

try {
  const config = loadWorkerConfig(process.env)
  const log = createLog('worker', config.LOG_LEVEL)
  for (const line of unsupportedSettings(process.env)) log.warn(line)
  await main(config, log)
  process.exit(0)
} catch (error) {
  process.stderr.write(`The worker cannot start. ${reasonOf(error)}\n`)
  process.exit(1)
}
