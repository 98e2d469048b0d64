import type { ClusterState, QueryReport, SlurmClusterTest, SlurmrestdColumns } from '@muster/core/clusters'
import type { Gres } from '@muster/slurm'
import { CHECKS, type Check, runCheck } from './checks.ts'
import { readCluster } from './read-cluster.ts'
import type { QueryContext } from './run-query.ts'
import type { SlurmrestdEndpoint, SlurmrestdFailure } from './slurmrestd/endpoint.ts'

/** The commands after the login, in order. munge and the clock come first, because they explain why Slurm fails. */
const PLANNED: readonly [query: QueryReport['query'], command: string][] = [
  ['munge', CHECKS.munge.script],
  ['clock', CHECKS.clock.script],
  ['version', 'scontrol --version'],
  ['controllers', 'scontrol ping'],
  ['config', 'scontrol show config'],
  ['nodes', 'scontrol show nodes'],
  ['partitions', 'scontrol show partitions'],
  ['reservations', 'scontrol show reservations'],
  ['jobs', 'squeue'],
  ['scheduler', 'sdiag'],
  ['licenses', 'scontrol show licenses'],
  ['slurmrestd', 'GET /slurm/'],
  ['accounting', CHECKS.accounting.script],
  ['rights', CHECKS.rights.script],
]

/**
 * Runs what a refresh runs, and what explains its failures, and reports each command. Nothing is written on the host.
 * @throws QueryFailure a required command has no usable answer; SshFailure the connection was lost
 */
export async function testController(
  context: Omit<QueryContext, 'version'>,
  slurmrestd: SlurmrestdEndpoint | SlurmrestdFailure | null,
): Promise<NonNullable<SlurmClusterTest['preview']>> {
  const check = async (one: Check, { settings, clusterName }: Partial<ClusterState> = {}) =>
    context.onReport(await runCheck(one, context, { settings: settings ?? {}, clusterName: clusterName ?? null }))
  await check(CHECKS.munge)
  await check(CHECKS.clock)
  const state = await readCluster(context, true, undefined, slurmrestd)
  const accounting = state.settings?.AccountingStorageType ?? 'not set'
  if (accounting.endsWith('/slurmdbd')) await check(CHECKS.accounting, state)
  else
    context.onReport({
      ...skipped('accounting', CHECKS.accounting.script),
      detail: `The cluster has no accounting: AccountingStorageType is ${accounting}.`,
    })
  await check(CHECKS.rights, state)
  return previewOf(state)
}

const previewOf = ({ clusterName, version, controllers, nodes, jobs, partitions }: ClusterState) => ({
  clusterName,
  version,
  controllers,
  nodes: nodes.length,
  cpus: nodes.reduce((sum, { cpus }) => sum + cpus, 0),
  gpus: nodes.reduce((sum, { gres }) => sum + gpusOf(gres), 0),
  jobs: jobs.length,
  partitions: partitions.map(({ name }) => name),
})

const gpusOf = (gres: Gres[]) => gres.filter(({ name }) => name === 'gpu').reduce((sum, { count }) => sum + count, 0)

/** The commands that were not run, after those that were. */
export const skippedAfter = (
  reports: QueryReport[],
  { slurmrestdSocket, slurmrestdCredentialId }: SlurmrestdColumns,
): QueryReport[] =>
  PLANNED.filter(([query]) => query !== 'slurmrestd' || (slurmrestdSocket ?? slurmrestdCredentialId) !== null)
    .filter(([query]) => !reports.some((report) => report.query === query))
    .map(([query, command]) => skipped(query, command))

const skipped = (query: QueryReport['query'], command: string): QueryReport => ({
  ...{ query, command, state: 'SKIPPED', exitCode: null, durationMs: 0, detail: null, hint: null },
})
