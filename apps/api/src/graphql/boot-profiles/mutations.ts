import {
  assignBootProfile,
  createBootProfile,
  deleteBootProfile,
  restoreBootProfile,
  unassignBootProfile,
  updateBootProfile,
} from '@muster/core/boot-profiles'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { BootArch, BootProfile } from './types.ts'

const ID = 'ID of the boot profile.'
const payload = { bootProfile: { type: BootProfile, description: 'The boot profile.' } }
const errors = [Conflict, NotFound]

const BootImageInput = builder.inputType('BootImageInput', {
  description: 'A file that a machine loads.',
  fields: (t) => ({
    url: t.string({
      required: true,
      description: 'URL: http, https, tftp or nfs. Loopback, link-local and metadata addresses must be in LOCAL_TARGETS.',
    }),
    checksum: t.string({ description: '`sha256:` or `sha512:` and hexadecimal digits.' }),
  }),
})

const CLOUD_INIT = 'at most 65,536 characters. It is readable in the boot network: no secrets'
const comment = (t: InputFields) => ({
  comment: t.string({ description: 'Why it changes, for the history; at most 1,000 characters.' }),
})
const contentFields = (t: InputFields) => ({
  parentId: t.id({ description: 'Profile to inherit from.' }),
  description: t.string({ description: 'Free text, at most 2,000 characters.' }),
  arch: t.field({ type: BootArch, description: 'Architecture of the machines; machines with another one do not boot it.' }),
  kernel: t.field({ type: BootImageInput, description: 'The kernel.' }),
  initrds: t.field({
    type: [BootImageInput],
    description: 'Initial RAM disks in order, at most 16. They replace those of the parent; an empty list is none.',
  }),
  rootImage: t.field({ type: BootImageInput, description: 'Image of the root file system.' }),
  kernelParams: t.stringList({
    description: 'Kernel parameters in order, at most 200. They follow those of the parent and replace those with the same name.',
  }),
  adminUser: t.string({ description: 'Name of the user who gets the SSH keys and sudo, at most 32 characters.' }),
  sshKeys: t.stringList({ description: 'Public keys of the admin user, at most 100, in addition to those of the parent.' }),
  userData: t.string({ description: `user-data of cloud-init, ${CLOUD_INIT}.` }),
  vendorData: t.string({ description: `vendor-data of cloud-init, ${CLOUD_INIT}.` }),
  networkConfig: t.string({ description: `network-config of cloud-init, version 1 or 2, ${CLOUD_INIT}.` }),
  ...comment(t),
})

mutation('createBootProfile', {
  description: 'Creates a boot profile. No node boots it before it is assigned.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Name of 1 to 63 letters, digits, dots, dashes or underscores.' }),
    ...contentFields(t),
  }),
  idempotent: true,
  payload,
  errors,
  resolve: async ({ parentId, ...input }, { ctx, deps }) => ({
    bootProfile: await createBootProfile(ctx, { ...input, parentId: rowIdIfGiven('BootProfile', parentId) }, deps.localTargets),
  }),
})

mutation('updateBootProfile', {
  description:
    'Saves the next version of a boot profile. Omitted fields keep their values; null inherits. Nodes get it at their next boot.',
  input: (t) => ({
    id: t.id({ required: true, description: ID }),
    version: t.int({ required: true, description: 'Version that was edited; another one is a conflict.' }),
    ...contentFields(t),
  }),
  payload,
  errors,
  resolve: async ({ id, parentId, ...input }, { ctx, deps }) => ({
    bootProfile: await updateBootProfile(
      ctx,
      { ...input, id: rowId('BootProfile', id), parentId: rowIdIfGiven('BootProfile', parentId) },
      deps.localTargets,
    ),
  }),
})

mutation('restoreBootProfile', {
  description: 'Saves the fields and the parent of an earlier version as the next version.',
  input: (t) => ({
    id: t.id({ required: true, description: ID }),
    version: t.int({ required: true, description: 'Newest version that the caller has seen; another one is a conflict.' }),
    number: t.int({ required: true, description: 'Number of the version to restore.' }),
    ...comment(t),
  }),
  payload,
  errors,
  resolve: async ({ id, ...input }, { ctx }) => ({
    bootProfile: await restoreBootProfile(ctx, { ...input, id: rowId('BootProfile', id) }),
  }),
})

mutation('deleteBootProfile', {
  description: 'Deletes a boot profile and its versions. It must have no children and no assignments.',
  input: (t) => ({ id: t.id({ required: true, description: ID }) }),
  payload: deletedPayload,
  errors,
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('BootProfile', (await deleteBootProfile(ctx, { id: rowId('BootProfile', id) })).id),
  }),
})

const targets = (t: InputFields) => ({
  profileId: t.id({ required: true, description: ID }),
  nodeIds: t.idList({ description: 'Nodes, at most 10,000.' }),
  groupIds: t.idList({ description: 'Groups, at most 10,000.' }),
  allNodes: t.boolean({ description: 'All nodes of the tenant: the default. Default: false.' }),
  unknownMachines: t.boolean({ description: 'Machines with a MAC that no node has. Default: false.' }),
})
type Targets = { profileId: string; nodeIds?: readonly string[] | null; groupIds?: readonly string[] | null }
const rowsOf = ({ profileId, nodeIds, groupIds }: Targets) => ({
  profileId: rowId('BootProfile', profileId),
  nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)),
  groupIds: groupIds?.map((id) => rowId('NodeGroup', id)),
})

mutation('assignBootProfile', {
  description:
    'Assigns a boot profile to nodes, groups, all nodes or unknown machines, or changes the priority. Nodes boot it at their next boot, unless another assignment wins.',
  input: (t) => ({
    ...targets(t),
    priority: t.int({
      description:
        'Among assignments with the same kind of target, the lower number wins. Default: 100, or unchanged for existing assignments.',
    }),
  }),
  payload,
  errors,
  resolve: async (input, { ctx }) => ({ bootProfile: await assignBootProfile(ctx, { ...input, ...rowsOf(input) }) }),
})

mutation('unassignBootProfile', {
  description: 'Removes assignments of a boot profile. Targets without one are ignored.',
  input: targets,
  payload,
  errors,
  resolve: async (input, { ctx }) => ({ bootProfile: await unassignBootProfile(ctx, { ...input, ...rowsOf(input) }) }),
})
