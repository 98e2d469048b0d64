import { type ClusterState, digestReports, type QueryReport } from '@muster/core/clusters'
import {
  createJobParser,
  type JobParser,
  parseConfig,
  parseControllers,
  parseLicenses,
  parseNodes,
  parsePartitions,
  parseReservations,
  parseRestJobs,
  parseScheduler,
  parseVersion,
  SlurmOutputError,
  type SlurmScheduler,
} from '@muster/slurm'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { type QueryContext, QueryFailure, runQuery } from './run-query.ts'
import type { SlurmrestdEndpoint, SlurmrestdFailure } from './slurmrestd/endpoint.ts'
import { openSlurmrestd } from './slurmrestd/read-slurmrestd.ts'

/** The hashes are computed while other output is received. */
const readNodes = (output: string) => digestReports(parseNodes(output))
const describeNodes = (list: unknown[]) => count('node', list)
const describeJobs = (list: unknown[]) => count('job', list)
const describeScheduler = ({ main }: SlurmScheduler) => `last cycle ${main.lastCycle} us`
const count = (word: string, list: unknown[]) => `${list.length} ${word}${list.length === 1 ? '' : 's'}`

/**
 * Reads a cluster over an open session. Asks first which controllers answer: if none does, one command waits for them, not all.
 * slurmrestd reports nodes, jobs and the scheduler; commands read what it lacks, and all when it fails.
 * @param readSettings also read the configuration, which rarely changes
 * @param parseJobs of the cluster, which knows the jobs of the last refresh
 * @param slurmrestd null: commands only
 * @throws QueryFailure a required query has no usable answer; SshFailure the connection was lost
 */
export async function readCluster(
  context: Omit<QueryContext, 'version'>,
  readSettings: boolean,
  parseJobs: JobParser = createJobParser(),
  slurmrestd: SlurmrestdEndpoint | SlurmrestdFailure | null = null,
): Promise<ClusterState> {
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
  const rest = slurmrestd && (await openSlurmrestd(slurmrestd, known))
  const [{ nodes, partitions, reservations }, { jobs, scheduler, licenses }] = await inTwoChannels(
    known,
    async (context) => ({
      nodes:
        (await rest?.read(context, 'nodes', readNodes, describeNodes)) ??
        (await runQuery(context, 'nodes', readNodes, describeNodes)),
      partitions: await runQuery(context, 'partitions', parsePartitions, (list) => count('partition', list)),
      reservations: await runQuery(
        context,
        'reservations',
        (output) => parseReservations(output),
        (list) => count('reservation', list),
      ),
    }),
    async (context) => ({
      jobs:
        (await rest?.read(context, 'jobs', parseRestJobs, describeJobs)) ??
        (await runQuery(context, 'jobs', parseJobs, describeJobs)),
      scheduler:
        (await rest?.read(context, 'scheduler', parseScheduler, describeScheduler)) ??
        (await runQuery(context, 'scheduler', parseScheduler, describeScheduler).catch(ignoreFailure)),
      licenses: await runQuery(context, 'licenses', parseLicenses, (list) => count('license', list)).catch(ignoreFailure),
    }),
  ).finally(() => rest?.finish())
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
    licenses,
  }
}

/**
 * Runs two parts at the same time in channels of one connection: one is parsed while the other one is received. Runs the second part after
 * the first one where the host allows one channel only (MaxSessions). Its reports follow those of the first one.
 */
async function inTwoChannels<A, B>(
  context: QueryContext,
  first: (context: QueryContext) => Promise<A>,
  second: (context: QueryContext) => Promise<B>,
): Promise<[A, B]> {
  let reports: QueryReport[] = []
  const later: QueryContext = { ...context, onReport: (report) => void reports.push(report) }
  const [a, b] = await Promise.allSettled([first(context), second(later)])
  if (a.status === 'rejected') throw a.reason
  const isRefused = b.status === 'rejected' && b.reason instanceof SshFailure
  if (isRefused) reports = []
  const again = isRefused ? await Promise.allSettled([second(later)]) : [b]
  for (const report of reports) context.onReport(report)
  if (again[0]!.status === 'rejected') throw again[0]!.reason
  return [a.value, again[0]!.value]
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

/** Statistics of the scheduler, and licenses: the cluster can be shown without them. */
function ignoreFailure(error: unknown): null {
  if (error instanceof QueryFailure) return null
  throw error
}
