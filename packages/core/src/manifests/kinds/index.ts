import { alertRoute } from './alert-route.ts'
import { bootProfile } from './boot-profile.ts'
import { computeNode } from './compute-node.ts'
import { credential } from './credential.ts'
import { jobTemplate } from './job-template.ts'
import { KINDS, type Kind, type KindName } from './kind.ts'
import { nodeGroup } from './node-group.ts'
import { slurmCluster } from './slurm-cluster.ts'
import { variables } from './variables.ts'

const all: Record<KindName, Kind> = {
  Credential: credential,
  JobTemplate: jobTemplate,
  NodeGroup: nodeGroup,
  ComputeNode: computeNode,
  BootProfile: bootProfile,
  Variables: variables,
  SlurmCluster: slurmCluster,
  AlertRoute: alertRoute,
}

export const kindOf = (name: KindName): Kind => all[name]
/** In the order in which they are applied. */
export const kinds: Kind[] = KINDS.map(kindOf)
export { compact, type Item, isEmpty, KINDS, type Kind, type KindName, type Scope, type Spec, type Stored } from './kind.ts'
export { isReferable, Lookup } from './lookup.ts'
