import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { openArtifactStore } from '@muster/core/artifacts'
import { ARTIFACT_STORE, loadConfig, MASTER_PASSWORD, takeMasterPassword } from '@muster/core/config'
import type { Runtime } from '@muster/core/context'
import { openVault } from '@muster/core/credentials'
import { awaitDatabase, connectDb } from '@muster/core/db'
import { createListener, createNotifier } from '@muster/core/events'
import type { Log } from '@muster/core/log'
import { createQueue } from '@muster/core/queue'
import packageJson from '../package.json' with { type: 'json' }
import { chooseIsolation } from './ansible/isolation/choose-isolation.ts'
import { said } from './ansible/isolation/isolation.ts'
import { removeDeadRuns } from './ansible/run-directory.ts'
import { lookAtAnsible } from './ansible-version.ts'
import { connectionTestHandler } from './handlers/connection-test.ts'
import { discoveryHandler } from './handlers/discovery.ts'
import { jobRunHandler } from './handlers/job-run.ts'
import { serveHealth } from './health.ts'
import { measureQueues } from './metrics.ts'
import { announce } from './presence.ts'
import { queueDepths } from './queue-depths.ts'
import { reconcileAgentHistory, reconcileAgents } from './reconcilers/agents.ts'
import { reconcileAlerts } from './reconcilers/alerts.ts'
import { reconcileLostRuns } from './reconcilers/lost-runs.ts'
import { reconcileSeals } from './reconcilers/reseal.ts'
import { reconcileRetention } from './reconcilers/retention.ts'
import { reconcileStuckWork } from './reconcilers/stuck-work.ts'
import { reconcileWaitingRuns } from './reconcilers/waiting-runs.ts'
import { shareBastions } from './ssh/bastions.ts'

/** @throws Error with one line per wrong setting */
export const loadWorkerConfig = (env: NodeJS.ProcessEnv) =>
  loadConfig(env, [
    'DATABASE_URL',
    ...MASTER_PASSWORD,
    ...ARTIFACT_STORE,
    'ARTIFACT_MAX_SIZE',
    'CREDENTIAL_KEY_VERSION',
    'LOG_LEVEL',
    'HOST',
    'WORKER_PORT',
    'ANSIBLE_WORK_DIR',
    'ANSIBLE_PLAYBOOK_REPO_PATH',
    'ANSIBLE_PLAYBOOK',
    'ANSIBLE_ISOLATION',
    'ANSIBLE_READABLE_PATHS',
    'JOB_RUNNER_CONCURRENCY',
    'JOB_CANCEL_GRACE_PERIOD',
    'SSH_CONCURRENCY',
    'SSH_TIMEOUT',
    'ALERT_LOCAL_TARGETS',
    'MUSTER_PUBLIC_URL',
  ])
export type WorkerConfig = ReturnType<typeof loadWorkerConfig>

/** Tests and discoveries under way when the worker is to stop get this long; runs are stopped at once, in their own way. */
const SSH_DRAIN_MS = 5000
/** What a run may need beyond its own grace period, to write its end. */
const SETTLE_MS = 10_000

export type Worker = {
  /** Where /healthz, /readyz and /metrics are. */
  port: number
  /** Take no more work, bring what is under way to its end within the grace period, close everything. */
  stop(): Promise<void>
  /** Take no more work, finish what is under way, and stay. An admin can undo it. */
  drain(): void
}

/**
 * Bring up a worker: it takes tests, discoveries and runs from the queue, and reconciles.
 * @param signal gives up waiting for the database
 * @throws Error in the operator's words when the configuration or ansible-playbook is not as it must be
 */
export async function startWorker(config: WorkerConfig, log: Log, signal: AbortSignal): Promise<Worker> {
  const workerId = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`
  const url = config.DATABASE_URL
  // Before anything is started that would inherit it.
  const password = takeMasterPassword(config, process.env)
  const tried = (async () => {
    const ansible = await lookAtAnsible(config.ANSIBLE_PLAYBOOK)
    return { ansible, isolation: await chooseIsolation(config, ansible) }
  })()
  // Looked at below; a database that is away must not make it an unhandled rejection.
  tried.catch(() => {})
  const { db, close: closeDb } = connectDb(url, { name: `muster-worker ${workerId}`, max: 16 })
  const closers = [closeDb]
  const close = async () => {
    for (const step of closers.splice(0).reverse()) await step()
  }
  try {
    await awaitDatabase(db, log, signal)
    const { ansible, isolation } = await tried
    const facts = { executable: config.ANSIBLE_PLAYBOOK, isolation: isolation.mode, weakness: isolation.weakness }
    log.info({ ansible: ansible.version, ...facts }, 'ansible-playbook is ready')
    const vault = await openVault(db, password, config.CREDENTIAL_KEY_VERSION)
    await removeDeadRuns(config.ANSIBLE_WORK_DIR, log)
    const notifier = createNotifier(url, log)
    closers.push(() => notifier.close())
    const listener = await createListener(url, log)
    closers.push(() => listener.close())
    const queue = await createQueue(url, log, 'worker')
    const runtime: Runtime = { db, queue, notify: notifier.notify, log, vault }
    const bastions = shareBastions()
    closers.push(async () => bastions.close())

    const runsStop = new AbortController()
    const sshStop = new AbortController()
    const deps = { runtime, config, workerId, listener, isolation }
    const ssh = { ...deps, bastions, stopping: sshStop.signal }
    const store = openArtifactStore(config)
    const seals = reconcileSeals(runtime, workerId)
    listener.on('credentialKey', null, seals.nudge)
    const waiting = reconcileWaitingRuns(runtime)
    for (const topic of ['nodesFreed', 'queue'] as const) listener.on(topic, null, waiting.nudge)
    const alerts = reconcileAlerts(runtime, workerId, {
      link: new URL('/alerts', config.MUSTER_PUBLIC_URL).href,
      allowLocal: config.ALERT_LOCAL_TARGETS === '1',
    })
    for (const topic of ['alert', 'alertRoute', 'alertSilence'] as const) listener.on(topic, null, alerts.nudge)
    const reconcilers = [
      reconcileAgents(runtime),
      reconcileAgentHistory(runtime),
      alerts,
      reconcileLostRuns(runtime, listener),
      reconcileStuckWork(runtime),
      seals,
      waiting,
      reconcileRetention(runtime, store),
    ]
    closers.push(async () => void (await Promise.all(reconcilers.map((one) => one.stop()))))
    listener.onReconnect(() => {
      for (const one of reconcilers) one.nudge()
    })
    measureQueues(() => queueDepths(db))
    let isStopping = false
    const whyNotReady = async () => {
      if (isStopping) return 'The worker is stopping.'
      await queueDepths(db)
      return store.whyNotReady()
    }
    const health = await serveHealth(config.HOST, config.WORKER_PORT, whyNotReady, said(isolation))
    closers.push(health.close)

    const presence = await announce(runtime, listener, queue, {
      name: workerId,
      host: hostname(),
      pid: process.pid,
      version: packageJson.version,
      ansibleVersion: ansible.version,
      isolation: isolation.mode,
      isolationWeakness: isolation.weakness,
      concurrency: config.JOB_RUNNER_CONCURRENCY,
    })
    closers.push(presence.end)
    await queue.work('connection-test', config.SSH_CONCURRENCY, connectionTestHandler(ssh))
    await queue.work('discovery', config.SSH_CONCURRENCY, discoveryHandler(ssh))
    await queue.work(
      'job-run',
      config.JOB_RUNNER_CONCURRENCY,
      jobRunHandler({ ...deps, store, presence, stopping: runsStop.signal }),
    )
    log.info({ workerId, port: health.port }, 'the worker takes work')

    return {
      port: health.port,
      drain: presence.drain,
      async stop() {
        isStopping = true
        log.info('the worker stops')
        runsStop.abort(new Error('The worker stops.'))
        const drain = setTimeout(() => sshStop.abort(new Error('The worker stops.')), SSH_DRAIN_MS)
        try {
          await queue.close(config.JOB_CANCEL_GRACE_PERIOD * 1000 + SETTLE_MS)
        } finally {
          clearTimeout(drain)
          await close()
        }
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}
