import { builder } from '../../builder.ts'
import { upper } from '../shared/enum-values.ts'

export const AuditOutcome = builder.enumType('AuditOutcome', {
  description: 'Outcome of an action.',
  values: upper({
    succeeded: 'The action was performed.',
    denied: 'The caller lacks the permission.',
    failed: 'The action failed for another reason.',
  }),
})

export const AuditActorKind = builder.enumType('AuditActorKind', {
  description: 'Kind of the actor of an audit entry.',
  values: upper({
    user: 'A user with a session.',
    token: 'A program with an API token.',
    worker: 'A worker process.',
    agent: 'The agent of a node.',
    system: 'Muster itself.',
    anonymous: 'A caller that was not signed in.',
  }),
})

export const AuditChannel = builder.enumType('AuditChannel', {
  description: 'Interface that an actor used.',
  values: upper({
    console: 'The web console.',
    api: 'GraphQL or HTTP.',
    cli: 'The command line.',
    agent: 'The agent protocol.',
    worker: 'A worker process.',
    system: 'Muster itself.',
  }),
})

export const AuditChainProblemKind = builder.enumType('AuditChainProblemKind', {
  description: 'Kind of a problem in the chain of audit entries.',
  values: upper({
    changed: 'An entry or its hash was changed, or entries were exchanged.',
    missing: 'Entries were deleted.',
    duplicate: 'Several entries have the same position.',
    checkpoint: 'A checkpoint was not signed by this installation, or contradicts the entry at its position.',
    unsigned: 'Entries after the last checkpoint, which was deleted.',
    pruned: 'The expected position cannot be compared, because retention deleted it.',
  }),
})
