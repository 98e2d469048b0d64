import { InvalidInput } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { type DefaultText, type InputFields, statesDefault } from '../shared/mutation.ts'
import { ConnectionType, NodeType } from './enums.ts'
import { ImportFormat } from './import/enums.ts'
import { NodeInterfaceInput } from './interfaces.ts'
import { LabelInput } from './labels.ts'

/** Optional fields of a node that users set. */
export const optionalFields = (t: InputFields, defaultText: DefaultText) => ({
  displayName: t.string({ description: 'Display name; at most 128 characters.' }),
  port: t.int({ description: `SSH port.${defaultText('22')}` }),
  connectionType: t.field({ type: ConnectionType, description: `Transport.${defaultText('SSH')}` }),
  sshUser: t.string({ description: `Login name.${defaultText('the user name of the credential')}` }),
  nodeType: t.field({ type: NodeType, description: `Role.${defaultText('COMPUTE')}` }),
  region: t.string({
    description: 'Region; at most 64 characters. A registering agent overwrites it with the region that it reports.',
  }),
  datacenter: t.string({
    description: 'Data center; at most 64 characters. A registering agent overwrites it with the one that it reports.',
  }),
  rack: t.string({ description: 'Rack; at most 64 characters.' }),
  tags: t.stringList({ description: 'Tags; at most 100.' }),
  labels: t.field({ type: [LabelInput], description: 'All labels; at most 100, each key once.' }),
  notes: t.string({ description: 'Free text; at most 20,000 characters.' }),
  credentialId: t.id({ description: 'ID of the login credential, of kind SSH_KEY or SSH_PASSWORD.' }),
  becomeCredentialId: t.id({ description: 'ID of the credential for privilege escalation, of kind BECOME.' }),
  bastionId: t.id({ description: 'ID of the bastion credential, of kind BASTION.' }),
})

/** Optional fields that identify one node, which have no defaults for many. */
export const identityFields = (t: InputFields) => ({
  rackPosition: t.string({ description: 'Position in the rack, for example `U07`; at most 32 characters.' }),
  xname: t.string({
    description:
      'Location name, for example `x1000c0s3b0n1`, unique in the tenant. Stored in lower case without leading zeros. The cabinet is at most 99999, the chassis at most 255.',
  }),
  nid: t.int({ description: 'Numeric node ID of the boot service, 0 to 2147483647, unique in the tenant.' }),
  managementIp: t.string({ description: 'IPv4 or IPv6 address in the management network.' }),
  interfaces: t.field({ type: [NodeInterfaceInput], description: 'All network interfaces; at most 64.' }),
})

export const NAME = 'Inventory name, unique in the tenant: letters, digits and `.` `_` `-`.'

export const HOST = 'Host name, IPv4 address or IPv6 address.'

const NodeDefaultsInput = builder.inputType('NodeDefaultsInput', {
  description: 'Defaults for the rows of an import. Values in a row take precedence.',
  fields: (t) => optionalFields(t, statesDefault),
})

/** Fields of an import, for the mutation and for its validation. */
export const importFields = (t: InputFields) => ({
  format: t.field({ type: ImportFormat, required: true, description: 'Format of the text.' }),
  text: t.string({ required: true, description: 'Host list, CSV table or Ansible inventory.' }),
  defaults: t.field({ type: NodeDefaultsInput, description: 'Defaults for all rows.' }),
  onlyRows: t.intList({
    description: 'Row numbers to import, at most 10,000, for example to retry failed rows. Default: all rows.',
  }),
})

type References = { credentialId?: string | null; becomeCredentialId?: string | null; bastionId?: string | null }

type Labels = (typeof LabelInput.$inferInput)[] | null

/** Labels keyed by name, as the verbs take them. @throws InvalidInput for a repeated key */
function labelRecord<T extends undefined>(labels: Labels | T): Record<string, string> | T | null {
  if (!labels) return labels as T | null
  const byKey = new Map<string, string>()
  for (const [i, { key, value }] of labels.entries()) {
    if (byKey.has(key)) throw new InvalidInput([{ path: `labels.${i}.key`, message: `the label ${key} is given twice` }])
    byKey.set(key, value)
  }
  return Object.fromEntries(byKey)
}

/** Converts global IDs to row IDs and labels to a record. */
export function withRowIds<T extends References & { labels?: Labels }>(input: T) {
  return {
    ...input,
    labels: labelRecord(input.labels) as Record<string, string> | undefined,
    credentialId: rowIdIfGiven('Credential', input.credentialId),
    becomeCredentialId: rowIdIfGiven('Credential', input.becomeCredentialId),
    bastionId: rowIdIfGiven('Credential', input.bastionId),
  }
}
