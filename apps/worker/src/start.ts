import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { openArtifactStore } from '@muster/core/artifacts'
import { slurmClusterTestQueue, slurmLookupQueue, slurmRefreshQueue } from '@muster/core/clusters'
import { connectionTestQueue } from '@muster/core/connections'
import type { SystemCtx } from '@muster/core/context'
import { credentialKeyRotated, openVault, takeMasterPassword } from '@muster/core/credentials'
import { awaitDatabase, connectDb, connectTenants, roleUrls } from '@muster/core/db'
import { discoveryQueue } from '@muster/core/discoveries'
import { createListener, createNotifier } from '@muster/core/events'
import type { Log } from '@muster/core/log'
import { readMetricsToken } from '@muster/core/metrics-access'
import { bmcDiscoveryQueue, bmcReadQueue, powerRunQueue } from '@muster/core/power'
import { createQueue, queueBacklogs } from '@muster/core/queue'
import { queues } from '@muster/core/registry'
import { credentialRotationQueue } from '@muster/core/rotations'
import { jobRunQueue } from '@muster/core/runs'
import { slurmActionQueue } from '@muster/core/slurm-actions'
import { slurmOperationQueue } from '@muster/core/slurm-operations'
import { slurmReadinessQueue } from '@muster/core/slurm-scaling'
import packageJson from '../package.json' with { type: 'json' }
import { chooseIsolation } from './ansible/isolation/choose-isolation.ts'
import { describeIsolation } from './ansible/isolation/isolation.ts'
import { removeAbandonedRuns } from './ansible/run-directory/run-directory.ts'
import { detectAnsible } from './ansible-version.ts'
import type { WorkerConfig } from './config.ts'
import { bmcDiscoveryHandler } from './handlers/bmc-discovery.ts'
import { bmcReadHandler } from './handlers/bmc-read.ts'
import { connectionTestHandler } from './handlers/connection-test.ts'
import { credentialRotationHandler } from './handlers/credential-rotation.ts'
import { discoveryHandler } from './handlers/discovery.ts'
import { jobRunHandler } from './handlers/job-run.ts'
import { powerRunHandler } from './handlers/power-run.ts'
import { slurmActionHandler } from './handlers/slurm-action.ts'
import { slurmClusterTestHandler } from './handlers/slurm-cluster-test.ts'
import { slurmLookupHandler } from './handlers/slurm-lookup.ts'
import { slurmOperationHandler } from './handlers/slurm-operation.ts'
import { slurmReadinessHandler } from './handlers/slurm-readiness.ts'
import { slurmRefreshHandler } from './handlers/slurm-refresh.ts'
import { serveHealth } from './health.ts'
import { reconcileAgentHistory, reconcileAgents } from './reconcilers/agents.ts'
import { reconcileAlerts } from './reconcilers/alerts.ts'
import { reconcileAudit, reconcileAuditSinks } from './reconcilers/audit.ts'
import { reconcileBootRules } from './reconcilers/boot-rules.ts'
import { reconcileBoots } from './reconcilers/boots.ts'
import { reconcileDeletedTenants } from './reconcilers/deleted-tenants.ts'
import { reconcileEncryption } from './reconcilers/encryption.ts'
import { reconcileLedger, reconcileLedgerSinks } from './reconcilers/ledger.ts'
import { reconcileLostRuns } from './reconcilers/lost-runs.ts'
import { reconcileMaintenance } from './reconcilers/maintenance.ts'
import { reconcileOpenchami } from './reconcilers/openchami.ts'
import { reconcilePower } from './reconcilers/power.ts'
import { reconcileRetention } from './reconcilers/retention.ts'
import { reconcileSchedules } from './reconcilers/schedules.ts'
import { reconcileSlurmAlerts, reconcileSlurmClusters } from './reconcilers/slurm-clusters.ts'
import { reconcileSlurmRuns } from './reconcilers/slurm-runs.ts'
import { reconcileStalledWork } from './reconcilers/stalled-work.ts'
import { reconcileWaitingRuns } from './reconcilers/waiting-runs.ts'
import { createBmcLogins } from './redfish/open-driver.ts'
import { registerPresence } from './registration.ts'
import { createControllerSessions } from './slurm/controller-sessions.ts'
import { createBastionPool } from './ssh/bastion-pool.ts'
import { systemChecksOf } from './system-checks.ts'

/** Time for tests and discoveries to complete when the worker stops; runs have their own grace period. */
const SSH_DRAIN_MS = 5000
/** Time for a run to record its end, beyond its grace period. */
const SETTLE_MS = 10_000

/** Rotations of credentials at the same time. */
const ROTATIONS = 4

/** Power runs of one worker at once. Each has its own number of nodes. */
const POWER_RUNS = 8
/** Searches for BMCs of one worker at once. Each asks several addresses. */
const BMC_DISCOVERIES = 2

export type Worker = {
  /** Port of /healthz, /readyz and /metrics. */
  port: number
  /** Takes no more work, ends the work in progress within the grace period, and closes everything. */
  stop(): Promise<void>
  /** Takes no more work and finishes the work in progress. An admin can undo it. */
  drain(): void
}

/**
 * Starts a worker: it handles tests, discoveries and runs from the queue, and runs the reconcilers.
 * @param signal stops waiting for the database
 * @throws Error for the operator when the configuration or ansible-playbook is unusable
 */
export async function startWorker(config: WorkerConfig, log: Log, signal: AbortSignal): Promise<Worker> {
  const workerId = `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`
  const urls = roleUrls(config)
  const metricsToken = readMetricsToken(config.METRICS_TOKEN_FILE)
  // Remove the password from the environment before any child process starts.
  const password = takeMasterPassword(config, process.env)
  const detection = (async () => {
    const ansible = await detectAnsible(config.ANSIBLE_PLAYBOOK)
    return { ansible, isolation: await chooseIsolation(config, ansible) }
  })()
  // Awaited below; until then a failure must not count as unhandled.
  detection.catch(() => {})
  const { db, close: closeDb } = connectDb(urls.system, { name: `muster-worker ${workerId}`, max: 8 })
  const app = connectTenants(urls.app, { name: `muster-worker ${workerId} app`, max: 16 })
  const closers = [closeDb, app.close]
  const close = async () => {
    for (const step of closers.splice(0).reverse()) await step()
  }
  try {
    await awaitDatabase(db, log, signal)
    const { ansible, isolation } = await detection
    const facts = { executable: config.ANSIBLE_PLAYBOOK, isolation: isolation.mode, weakness: isolation.weakness }
    log.info({ ansible: ansible.version, ...facts }, 'ansible-playbook is ready')
    const vault = await openVault(db, password, config.CREDENTIAL_KEY_VERSION)
    await removeAbandonedRuns(config.ANSIBLE_WORK_DIR, log, isolation)
    const notifier = createNotifier(urls.system, log)
    closers.push(() => notifier.close())
    const listener = await createListener(urls.system, log)
    closers.push(() => listener.close())
    const queue = await createQueue(urls.system, log, 'worker', queues)
    const actor = { kind: 'worker', id: workerId, name: workerId } as const
    const runtime: SystemCtx = { db, tenantDb: app.tenantDb, queue, notify: notifier.notify, log, vault, actor }
    const bastions = createBastionPool()
    closers.push(async () => bastions.close())

    const runsStop = new AbortController()
    const sshStop = new AbortController()
    const deps = { runtime, config, workerId, listener, isolation }
    const ssh = { ...deps, bastions, stopping: sshStop.signal }
    const controllers = createControllerSessions({ config, bastions, stopping: sshStop.signal })
    closers.push(async () => controllers.close())
    const store = openArtifactStore(config)
    const encryption = reconcileEncryption(runtime, workerId)
    listener.on(credentialKeyRotated, null, encryption.trigger)
    const waiting = reconcileWaitingRuns(runtime)
    for (const topic of ['nodesFreed', 'queue'] as const) listener.on({ topic }, null, waiting.trigger)
    const slurmRuns = reconcileSlurmRuns(runtime, workerId)
    for (const topic of ['cancel', 'nodesFreed', 'slurmAction', 'slurmCluster'] as const)
      listener.on({ topic }, null, slurmRuns.trigger)
    const alerts = reconcileAlerts(runtime, workerId, {
      link: new URL('/alerts', config.MUSTER_PUBLIC_URL).href,
      localTargets: config.LOCAL_TARGETS,
    })
    for (const topic of ['alert', 'alertRoute', 'alertSilence'] as const) listener.on({ topic }, null, alerts.trigger)
    const sinks = reconcileAuditSinks(runtime, workerId, {
      hostname: new URL(config.MUSTER_PUBLIC_URL).hostname.replace(/^\[|\]$/g, ''),
      localTargets: config.LOCAL_TARGETS,
    })
    listener.on({ topic: 'auditSink' }, null, sinks.trigger)
    const openchami = reconcileOpenchami(runtime, workerId, config.LOCAL_TARGETS)
    listener.on({ topic: 'openchamiTarget' }, null, openchami.trigger)
    const reconcilers = [
      openchami,
      reconcileAgents(runtime),
      reconcileAudit(runtime),
      reconcileLedger(runtime),
      reconcileLedgerSinks(runtime, workerId, { localTargets: config.LOCAL_TARGETS }),
      sinks,
      reconcileAgentHistory(runtime),
      alerts,
      reconcileLostRuns(runtime, listener),
      reconcileStalledWork(runtime),
      reconcileMaintenance(runtime),
      encryption,
      waiting,
      reconcileRetention(runtime, store, config),
      reconcileSlurmClusters(runtime),
      reconcileSlurmAlerts(runtime),
      reconcileBoots(runtime),
      reconcileBootRules(runtime),
      reconcilePower(runtime),
      ...reconcileSchedules(runtime),
      slurmRuns,
      reconcileDeletedTenants(runtime, store),
    ]
    closers.push(async () => void (await Promise.all(reconcilers.map((one) => one.stop()))))
    listener.onReconnect(() => {
      for (const one of reconcilers) one.trigger()
    })
    let isStopping = false
    const notReadyReason = async () => {
      if (isStopping) return 'The worker is stopping.'
      await queueBacklogs(db)
      return store.notReadyReason()
    }
    const note = describeIsolation(isolation)
    const health = await serveHealth(config, { notReadyReason, note, metricsToken })
    closers.push(health.close)

    const workerFacts = {
      name: workerId,
      host: hostname(),
      pid: process.pid,
      version: packageJson.version,
      ansibleVersion: ansible.version,
      isolation: isolation.mode,
      isolationWeakness: isolation.weakness,
      concurrency: config.JOB_RUNNER_CONCURRENCY,
    }
    const presence = await registerPresence(runtime, listener, queue, workerFacts, systemChecksOf(config, runtime))
    closers.push(presence.end)
    await queue.work(connectionTestQueue, config.SSH_CONCURRENCY, connectionTestHandler(ssh))
    await queue.work(discoveryQueue, config.SSH_CONCURRENCY, discoveryHandler(ssh))
    await queue.work(
      slurmRefreshQueue,
      config.SSH_CONCURRENCY,
      slurmRefreshHandler({ ...deps, controllers, stopping: sshStop.signal }),
    )
    await queue.work(slurmClusterTestQueue, config.SSH_CONCURRENCY, slurmClusterTestHandler(ssh))
    await queue.work(
      slurmLookupQueue,
      config.SSH_CONCURRENCY,
      slurmLookupHandler({ ...deps, controllers, stopping: sshStop.signal }),
    )
    await queue.work(
      slurmActionQueue,
      config.SSH_CONCURRENCY,
      slurmActionHandler({ ...deps, controllers, stopping: sshStop.signal }),
    )
    await queue.work(
      slurmOperationQueue,
      config.SSH_CONCURRENCY,
      slurmOperationHandler({ ...deps, controllers, stopping: sshStop.signal }),
    )
    await queue.work(
      slurmReadinessQueue,
      config.SSH_CONCURRENCY,
      slurmReadinessHandler({ ...deps, controllers, stopping: sshStop.signal }),
    )
    const logins = createBmcLogins()
    await queue.work(powerRunQueue, POWER_RUNS, powerRunHandler({ ...deps, logins, stopping: sshStop.signal }))
    await queue.work(bmcDiscoveryQueue, BMC_DISCOVERIES, bmcDiscoveryHandler({ ...deps, logins, stopping: sshStop.signal }))
    await queue.work(bmcReadQueue, config.SSH_CONCURRENCY, bmcReadHandler({ ...deps, logins, stopping: sshStop.signal }))
    await queue.work(credentialRotationQueue, ROTATIONS, credentialRotationHandler(ssh))
    await queue.work(
      jobRunQueue,
      config.JOB_RUNNER_CONCURRENCY,
      jobRunHandler({ ...deps, store, presence, stopping: runsStop.signal }),
    )
    log.info({ workerId, port: health.port }, 'the worker is ready')

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
