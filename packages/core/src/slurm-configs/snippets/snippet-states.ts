import { createHash } from 'node:crypto'
import { applySnippets, type ConfigFiles, hasSnippet, snippetNames } from '@muster/slurm/config'
import type { SlurmCluster } from '../../clusters/tables.ts'
import { notIncludedReason } from '../policy.ts'
import type { SlurmConfigSnippet, SlurmConfigVersion } from '../tables.ts'
import { newErrors, releaseOf, sameFiles } from '../versions.ts'

/** How a cluster stands to one of its snippets. */
export const SNIPPET_STATES = ['ROLLED_OUT', 'PROPOSED', 'NOT_APPLIED', 'CONFLICT', 'NOT_MANAGED'] as const
export type SnippetState = (typeof SNIPPET_STATES)[number]

export type ClusterSnippet = {
  clusterId: string
  name: string
  /** Null when it was deleted, and the configuration still has its lines. */
  snippet: SlurmConfigSnippet | null
  state: SnippetState
  /** Details, and the next step; null when it is rolled out. */
  message: string | null
}

export type ClusterSnippets = {
  /** The snippets of the cluster, then others that its configuration has lines of, each by name. */
  snippets: ClusterSnippet[]
  /** What applying them stores as the next version; null when there is nothing to store. */
  files: ConfigFiles | null
  /** Why there is nothing to store; null when there is. */
  blockedReason: string | null
  /** Whether the newest version has the lines of all its snippets, and nothing conflicts. */
  isUpToDate: boolean
  /** Changes with what would be stored; null when nothing would be. */
  fingerprint: string | null
}

type Cluster = Pick<SlurmCluster, 'id' | 'name' | 'region' | 'reuseConfig' | 'version'>

/** Whether a snippet is for a cluster: it names the cluster or its region. */
export const isSnippetOf = (
  { clusterIds, regions }: Pick<SlurmConfigSnippet, 'clusterIds' | 'regions'>,
  { id, region }: Pick<SlurmCluster, 'id' | 'region'>,
): boolean => clusterIds.includes(id) || (region !== null && regions.includes(region))

/**
 * Compares the configuration of a cluster with the snippets for it, and returns what applying them would store.
 * @param snippets those for the cluster, and others that its configuration may have lines of
 * @param newest the newest version; null when there is none
 * @param rolledOut the version that the hosts should have
 */
export function compareSnippets(
  cluster: Cluster,
  snippets: readonly SlurmConfigSnippet[],
  newest: Pick<SlurmConfigVersion, 'number' | 'files'> | null,
  rolledOut: Pick<SlurmConfigVersion, 'files'> | null,
): ClusterSnippets {
  const own = snippets.filter((snippet) => isSnippetOf(snippet, cluster)).sort((a, b) => (a.name < b.name ? -1 : 1))
  const leftNames = newest ? snippetNames(newest.files).filter((name) => !own.some((snippet) => snippet.name === name)) : []
  const left = leftNames.sort().map((name) => ({ name, snippet: snippets.find((one) => one.name === name) ?? null }))
  const notIncluded = notIncludedReason(cluster, newest !== null)
  if (notIncluded !== null || newest === null) {
    const all = [...own.map((snippet) => ({ name: snippet.name, snippet })), ...left]
    const rows = all.map((one) => ({ clusterId: cluster.id, ...one, state: 'NOT_MANAGED' as const, message: notIncluded }))
    return { snippets: rows, files: null, blockedReason: notIncluded, isUpToDate: false, fingerprint: null }
  }
  const { files, conflicts } = applySnippets(newest.files, own)
  const [error] = newErrors(newest.files, files, releaseOf(cluster))
  const misfit = error ? `${error.file}: ${error.message}` : null
  const stateOf = (snippet: SlurmConfigSnippet): Pick<ClusterSnippet, 'state' | 'message'> => {
    const conflict = conflicts.find((one) => one.snippet === snippet.name)
    if (conflict) return { state: 'CONFLICT', message: `${conflict.message} Remove it there or from the snippet.` }
    if (!hasSnippet(newest.files, snippet))
      return {
        state: 'NOT_APPLIED',
        message: misfit
          ? `It does not fit the cluster. ${misfit}`
          : `Version ${newest.number} does not have its lines. Apply the snippets of the cluster.`,
      }
    return rolledOut && hasSnippet(rolledOut.files, snippet)
      ? { state: 'ROLLED_OUT', message: null }
      : { state: 'PROPOSED', message: `Version ${newest.number} has it. Preview it and roll it out.` }
  }
  const toRemove = `Version ${newest.number} still has its lines. Apply the snippets of the cluster to remove them.`
  const [conflict] = conflicts
  const isUpToDate = misfit === null && !conflict && sameFiles(newest.files, files)
  const blockedReason =
    misfit ??
    (!sameFiles(newest.files, files)
      ? null
      : conflict
        ? `The snippet ${conflict.snippet}: ${conflict.message}`
        : 'The newest version has the lines of all snippets of the cluster already.')
  return {
    snippets: [
      ...own.map((snippet) => ({ clusterId: cluster.id, name: snippet.name, snippet, ...stateOf(snippet) })),
      ...left.map((one) => ({ clusterId: cluster.id, ...one, state: 'NOT_APPLIED' as const, message: misfit ?? toRemove })),
    ],
    files: blockedReason === null ? files : null,
    blockedReason,
    isUpToDate,
    fingerprint: blockedReason === null ? fingerprintOf(cluster, newest.number, files) : null,
  }
}

const fingerprintOf = ({ id }: Cluster, basedOn: number, files: ConfigFiles): string =>
  createHash('sha256')
    .update(JSON.stringify([id, basedOn, Object.entries(files).sort()]))
    .digest('hex')
    .slice(0, 24)
