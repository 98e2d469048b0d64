import type { KindName } from '../kinds/index.ts'
import type { ManifestIssue } from '../parse/issue.ts'

export const CHANGE_ACTIONS = ['CREATE', 'UPDATE', 'DELETE'] as const
export type ChangeAction = (typeof CHANGE_ACTIONS)[number]

/** A field before and after, as text; null: it has its default value. */
export type FieldChange = { path: string; before: string | null; after: string | null }

/** The same change of one or more objects of a kind. */
export type ManifestChange = {
  action: ChangeAction
  kind: KindName
  /** The objects; nodes as a hostlist. */
  names: string
  count: number
  fields: FieldChange[]
}

/** A field that another owner or a person set. `owner` is null when it was set outside of manifests. */
export type ManifestConflict = { kind: KindName; name: string; path: string; owner: string | null; message: string }

/**
 * What changes mean for nodes. REBOOT: they boot something else from their next boot. HOST_KEY: another address drops the pinned host
 * key. VARIABLES: runs get other variables. ACCELERATORS: of nodes that leave. SLURM_JOBS: running on nodes that leave, move or reboot.
 */
export const IMPACTS = ['REBOOT', 'HOST_KEY', 'VARIABLES', 'ACCELERATORS', 'SLURM_JOBS'] as const
export type ManifestImpact = {
  kind: (typeof IMPACTS)[number]
  /** Number of nodes, accelerators or jobs. */
  count: number
  /** Hostlist of the nodes. */
  nodes: string
}

export type ManifestPlan = {
  owner: string
  /** Whether the changes were made. */
  isApplied: boolean
  /** Identifies the changes; null when there are issues or conflicts. */
  fingerprint: string | null
  createCount: number
  updateCount: number
  deleteCount: number
  unchangedCount: number
  /** Hostlist of all nodes in the manifests, also of those that do not change; at most 20,000 names. */
  nodes: string
  nodeCount: number
  /** At most 1000. */
  changes: ManifestChange[]
  changeCount: number
  impact: ManifestImpact[]
  /** At most 200. */
  conflicts: ManifestConflict[]
  conflictCount: number
  /** At most 200. Nothing is applied while there is one. */
  issues: ManifestIssue[]
  issueCount: number
  warnings: string[]
}
export const MAX_CHANGES = 1000
export const MAX_CONFLICTS = 200
