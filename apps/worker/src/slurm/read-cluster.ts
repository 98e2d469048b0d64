import type { ClusterState } from '@muster/core/clusters'
import {
  parseConfig,
  parseControllers,
  parseJobs,
  parseNodes,
  parsePartitions,
  parseReservations,
  parseScheduler,
  parseVersion,
  SlurmOutputError,
} from '@muster/slurm'
import { type QueryContext, QueryFailure, runQuery } from './run-query.ts'

const count = (word: string, list: unknown[]) => `${list.length} ${word}${list.length === 1 ? '' : 's'}`

/**
 * Reads a cluster over an open session. Asks first which controllers answer: if none does, one command waits for them, not all.
 * @param readSettings also read the configuration, which rarely changes
 * @throws QueryFailure a required query has no usable answer; SshFailure the connection was lost
 */
export async function readCluster(context: Omit<QueryContext, 'version'>, readSettings: boolean): Promise<ClusterState> {
  const first: QueryContext = { ...context, version: null }
  const version = await runQuery(first, 'version', readVersion, (release) => `Slurm ${release}`)
  const known: QueryContext = { ...context, version }
  const controllers = await runQuery(known, 'controllers', readControllers, (list) =>
    list.map(({ role, hostname, isUp }) => `${role} ${hostname} ${isUp ? 'answers' : 'does not answer'}`).join(', '),
  )
  // A ping says DOWN for every reason; this command prints the reason.
  const isDown = !controllers.some(({ isUp }) => isUp)
  const config =
    readSettings || isDown
      ? await runQuery(known, 'config', parseConfig, ({ clusterName }) => `cluster ${clusterName ?? 'without a name'}`)
      : null
  const nodes = await runQuery(
    known,
    'nodes',
    (output) => parseNodes(output),
    (list) => count('node', list),
  )
  const partitions = await runQuery(known, 'partitions', parsePartitions, (list) => count('partition', list))
  const reservations = await runQuery(
    known,
    'reservations',
    (output) => parseReservations(output),
    (list) => count('reservation', list),
  )
  const jobs = await runQuery(
    known,
    'jobs',
    (output, nonce) => parseJobs(output, { nonce }),
    (list) => count('job', list),
  )
  const scheduler = await runQuery(known, 'scheduler', parseScheduler, ({ main }) => `last cycle ${main.lastCycle} us`).catch(
    ignoreFailure,
  )
  return {
    clusterName: config?.clusterName ?? null,
    version,
    controllers,
    settings: config?.settings ?? null,
    nodes,
    partitions,
    reservations,
    jobs,
    scheduler,
  }
}

function readVersion(output: string): string {
  const version = parseVersion(output)
  if (version === null) throw new SlurmOutputError('it prints no version of Slurm')
  return version
}

function readControllers(output: string) {
  const controllers = parseControllers(output)
  if (controllers.length === 0) throw new SlurmOutputError(output.trim().slice(0, 300) || 'the output is empty')
  return controllers
}

/** Statistics of the scheduler: the cluster can be shown without them. */
function ignoreFailure(error: unknown): null {
  if (error instanceof QueryFailure) return null
  throw error
}
