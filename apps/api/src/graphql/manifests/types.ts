import type {
  CHANGE_ACTIONS,
  FieldChange,
  IMPACTS,
  MANIFEST_KINDS,
  ManifestChange,
  ManifestConflict,
  ManifestImpact,
  ManifestIssue,
  ManifestPlan,
} from '@muster/core/manifests'
import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'
import type { InputFields } from '../shared/mutation.ts'

const ACTIONS: Record<(typeof CHANGE_ACTIONS)[number], string> = {
  CREATE: 'The objects are created.',
  UPDATE: 'Fields of the objects change.',
  DELETE: 'The objects are deleted; nodes are decommissioned, and job templates archived.',
}
const ManifestAction = builder.enumType('ManifestAction', {
  description: 'What a change does with objects.',
  values: same(ACTIONS),
})

const KINDS: Record<(typeof MANIFEST_KINDS)[number], string> = {
  AlertRoute: 'A notification route of alerts.',
  BootProfile: 'A boot profile with its assignments.',
  ComputeNode: 'A node.',
  Credential: 'A credential, without its secrets.',
  JobTemplate: 'A job template.',
  NodeGroup: 'A group with its members.',
  SlurmCluster: 'A Slurm cluster.',
  Variables: 'The variables of all nodes, a group or a node.',
}
export const ManifestKind = builder.enumType('ManifestKind', {
  description: 'Kind of an object in manifests.',
  values: same(KINDS),
})

const IMPACT_KINDS: Record<(typeof IMPACTS)[number], string> = {
  REBOOT: 'Nodes boot something else from their next boot.',
  HOST_KEY: 'Another address drops the pinned host key of nodes.',
  VARIABLES: 'Runs on nodes get other variables.',
  ACCELERATORS: 'Accelerators of nodes that are decommissioned.',
  SLURM_JOBS: 'Jobs of Slurm run on nodes that are decommissioned, move or need a reboot.',
}
const ManifestImpactKind = builder.enumType('ManifestImpactKind', {
  description: 'What a change means for nodes.',
  values: same(IMPACT_KINDS),
})

const FieldChangeType = builder.objectRef<FieldChange>('ManifestFieldChange').implement({
  description: 'A field before and after a change.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Name of the field, such as `host` or `labels.rack`.' }),
    before: t.exposeString('before', { nullable: true, description: 'Value before, as text; null: the default.' }),
    after: t.exposeString('after', { nullable: true, description: 'Value after, as text; null: the default.' }),
  }),
})

const ManifestChangeType = builder.objectRef<ManifestChange>('ManifestChange').implement({
  description: 'The same change of one or more objects of a kind.',
  fields: (t) => ({
    action: t.expose('action', { type: ManifestAction, description: 'What happens.' }),
    kind: t.expose('kind', { type: ManifestKind, description: 'Kind of the objects.' }),
    names: t.exposeString('names', { description: 'Names of the objects; those of nodes as a hostlist.' }),
    count: t.exposeInt('count', { description: 'Number of objects.' }),
    fields: t.expose('fields', { type: [FieldChangeType], description: 'Fields that change; at most 1000.' }),
  }),
})

const ManifestConflictType = builder.objectRef<ManifestConflict>('ManifestConflict').implement({
  description: 'A field that another owner or a person set.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ManifestKind, description: 'Kind of the object.' }),
    name: t.exposeString('name', { description: 'Name of the object.' }),
    path: t.exposeString('path', { description: 'Name of the field; empty for the whole object.' }),
    owner: t.exposeString('owner', { nullable: true, description: 'Owner of the field; null: set outside of manifests.' }),
    message: t.exposeString('message', { description: 'Why it is a conflict.' }),
  }),
})

const ManifestIssueType = builder.objectRef<ManifestIssue>('ManifestIssue').implement({
  description: 'A problem of a manifest.',
  fields: (t) => ({
    file: t.exposeString('file', { description: 'Name of the file.' }),
    document: t.exposeInt('document', { description: 'Document of the file, from 1.' }),
    line: t.exposeInt('line', { description: 'Line of the file, from 1; 0 for an object that is in no file.' }),
    column: t.exposeInt('column', { description: 'Column of the line, from 1; 0 for an object that is in no file.' }),
    path: t.exposeString('path', { description: 'Path of the field; empty for the whole document.' }),
    message: t.exposeString('message', { description: 'The problem.' }),
    allowed: t.exposeStringList('allowed', {
      description: 'Allowed values or names of fields, at most 500; empty when it is about neither.',
    }),
  }),
})

const ManifestImpactType = builder.objectRef<ManifestImpact>('ManifestImpact').implement({
  description: 'What changes mean for nodes.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ManifestImpactKind, description: 'What happens.' }),
    count: t.exposeInt('count', { description: 'Number of nodes, accelerators or jobs.' }),
    nodes: t.exposeString('nodes', { description: 'Hostlist of the nodes.' }),
  }),
})

export const ManifestPlanType = builder.objectRef<ManifestPlan>('ManifestPlan').implement({
  description: 'What applying manifests changes.',
  fields: (t) => ({
    owner: t.exposeString('owner', { description: 'Name under which the fields are owned.' }),
    isApplied: t.exposeBoolean('isApplied', { description: 'Whether the changes were made.' }),
    fingerprint: t.exposeString('fingerprint', {
      nullable: true,
      description: 'Identifies the changes, for `applyManifests`; null when there are issues or conflicts.',
    }),
    createCount: t.exposeInt('createCount', { description: 'Number of objects to create.' }),
    updateCount: t.exposeInt('updateCount', { description: 'Number of objects to change.' }),
    deleteCount: t.exposeInt('deleteCount', { description: 'Number of objects to delete.' }),
    unchangedCount: t.exposeInt('unchangedCount', { description: 'Number of objects that do not change.' }),
    nodes: t.exposeString('nodes', {
      description: 'Hostlist of all nodes in the manifests, also of those that do not change; empty when there are issues.',
    }),
    nodeCount: t.exposeInt('nodeCount', { description: 'Number of nodes in the manifests.' }),
    changes: t.expose('changes', { type: [ManifestChangeType], description: 'Changes; at most 1000.' }),
    changeCount: t.exposeInt('changeCount', { description: 'Number of changes, including those that are not listed.' }),
    impact: t.expose('impact', { type: [ManifestImpactType], description: 'What the changes mean for nodes; at most 5.' }),
    conflicts: t.expose('conflicts', {
      type: [ManifestConflictType],
      description: 'Conflicts; at most 200. With one, nothing is applied.',
    }),
    conflictCount: t.exposeInt('conflictCount', { description: 'Number of conflicts, including those that are not listed.' }),
    issues: t.expose('issues', {
      type: [ManifestIssueType],
      description: 'Problems; at most 200. With one, nothing is applied.',
    }),
    issueCount: t.exposeInt('issueCount', { description: 'Number of problems, including those that are not listed.' }),
    warnings: t.exposeStringList('warnings', { description: 'Parts of the files that are ignored; at most 1000.' }),
  }),
})

const ManifestFileInput = builder.inputType('ManifestFileInput', {
  description: 'A file with manifests.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Name of the file, for messages.' }),
    text: t.string({ required: true, description: 'YAML or JSON.' }),
  }),
})

export const manifestFields = (t: InputFields) => ({
  files: t.field({
    type: [ManifestFileInput],
    required: true,
    description: 'Files; at most 1000, with 10 million characters in total.',
  }),
  owner: t.string({ description: 'Name under which the fields are owned. Default: `default`.' }),
  prune: t.boolean({
    description: 'Deletes objects that only this owner applied earlier, and that are not in the files. Default: false.',
  }),
  forceConflicts: t.boolean({ description: 'Takes over fields that another owner or a person set. Default: false.' }),
})
