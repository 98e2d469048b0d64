import { applySnippets, hasSnippet } from '@muster/slurm/config'
import type { SlurmCluster } from '../../clusters/tables.ts'
import { notIncludedReason } from '../policy.ts'
import type { SlurmConfigSnippet, SlurmConfigVersion } from '../tables.ts'
import { newErrors, releaseOf } from '../versions.ts'

/** How a cluster stands to one of its snippets. */
export const SNIPPET_STATES = ['ROLLED_OUT', 'PROPOSED', 'DIFFERS', 'CONFLICT', 'NOT_MANAGED'] as const
export type SnippetState = (typeof SNIPPET_STATES)[number]

export type ClusterSnippet = {
  clusterId: string
  snippet: SlurmConfigSnippet
  state: SnippetState
  /** Details, and the next step; null when it is rolled out. */
  message: string | null
}

/**
 * Compares the configuration of a cluster with its snippets.
 * @param newest the newest version; null when there is none
 * @param rolledOut the version that the hosts should have
 */
export function snippetStates(
  cluster: Pick<SlurmCluster, 'id' | 'name' | 'reuseConfig' | 'version'>,
  snippets: readonly SlurmConfigSnippet[],
  newest: Pick<SlurmConfigVersion, 'number' | 'files'> | null,
  rolledOut: Pick<SlurmConfigVersion, 'files'> | null,
): ClusterSnippet[] {
  const blockedReason = notIncludedReason(cluster, newest !== null)
  const applied = newest && applySnippets(newest.files, snippets)
  const [error] = newest && applied ? newErrors(newest.files, applied.files, releaseOf(cluster)) : []
  const stateOf = (snippet: SlurmConfigSnippet): Pick<ClusterSnippet, 'state' | 'message'> => {
    if (blockedReason !== null || newest === null) return { state: 'NOT_MANAGED', message: blockedReason }
    const conflict = applied?.conflicts.find((one) => one.snippet === snippet.name)
    if (conflict) return { state: 'CONFLICT', message: `${conflict.message} Remove it there or from the snippet.` }
    if (!hasSnippet(newest.files, snippet))
      return {
        state: 'DIFFERS',
        message: error
          ? `It does not fit the cluster. ${error.file}: ${error.message}`
          : `Version ${newest.number} does not have its lines. Apply the snippets of the cluster.`,
      }
    return rolledOut && hasSnippet(rolledOut.files, snippet)
      ? { state: 'ROLLED_OUT', message: null }
      : { state: 'PROPOSED', message: `Version ${newest.number} has it. Preview it and roll it out.` }
  }
  return snippets.map((snippet) => ({ clusterId: cluster.id, snippet, ...stateOf(snippet) }))
}
