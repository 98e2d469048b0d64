import { builder } from '../../builder.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { ConnectionType, NodeType } from './enums.ts'
import { ImportFormat } from './import/enums.ts'

type Fields = PothosSchemaTypes.InputFieldBuilder<(typeof builder)['$inferSchemaTypes'], 'InputObject'>

/** The fields of a node that people set, all optional. */
const optionalFields = (t: Fields) => ({
  displayName: t.string({ description: 'A name for people.' }),
  port: t.int({ description: 'Port of its SSH server; left out: 22.' }),
  connectionType: t.field({ type: ConnectionType, description: 'How it is reached; left out: SSH.' }),
  sshUser: t.string({ description: "User to log in as; null: the credential's user." }),
  nodeType: t.field({ type: NodeType, description: 'What it is for; left out: COMPUTE.' }),
  region: t.string({
    description: 'Region; at most 64 characters. A registering agent overwrites it with the region that it reports.',
  }),
  datacenter: t.string({
    description: 'Data center; at most 64 characters. A registering agent overwrites it with the one that it reports.',
  }),
  tags: t.stringList({ description: 'Words to find it by.' }),
  labels: t.field({ type: 'JSON', description: 'Keys with text values, as an object.' }),
  notes: t.string({ description: 'Free text.' }),
  credentialId: t.id({ description: 'The login on it: a credential of the kind SSH_KEY or SSH_PASSWORD.' }),
  becomeCredentialId: t.id({ description: 'Password to become root with: a credential of the kind BECOME.' }),
  bastionId: t.id({ description: 'The host through which it is reached: a credential of the kind BASTION.' }),
})

const NAME = 'Inventory name, unique in the tenant: letters, digits and . _ -'

const HOST = 'Host name, IPv4 or IPv6 address.'

const NodeFields = builder.inputType('NodeFields', {
  description: 'Fields that all rows of an import get unless a row says otherwise.',
  fields: (t) => ({ name: t.string({ description: NAME }), host: t.string({ description: HOST }), ...optionalFields(t) }),
})

export const AddNodeInput = builder.inputType('AddNodeInput', {
  description: 'A node to add.',
  fields: (t) => ({
    name: t.string({ required: true, description: NAME }),
    host: t.string({ required: true, description: HOST }),
    ...optionalFields(t),
    hostKey: t.string({ description: 'Host key known beforehand, type and base64: it is approved at once.' }),
  }),
})

export const UpdateNodeInput = builder.inputType('UpdateNodeInput', {
  description: 'What to change of a node; what is left out stays as it is. Another address makes it NEW, without a host key.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which node.' }),
    name: t.string({ description: NAME }),
    host: t.string({ description: HOST }),
    ...optionalFields(t),
  }),
})

export const NodeImportInput = builder.inputType('NodeImportInput', {
  description: 'Many nodes to add at once.',
  fields: (t) => ({
    format: t.field({ type: ImportFormat, required: true, description: 'How the text is written.' }),
    text: t.string({ required: true, description: 'The list, table or inventory.' }),
    defaults: t.field({ type: NodeFields, description: 'What rows get unless they say otherwise.' }),
    onlyRows: t.intList({ description: 'Only these row numbers: to try again those that failed.' }),
  }),
})

type References = { credentialId?: string | null; becomeCredentialId?: string | null; bastionId?: string | null }

/** The input with row ids in place of the global ids of credentials, labels as the record that the verb will check. */
export function withRowIds<T extends References & { labels?: unknown }>(input: T) {
  return {
    ...input,
    labels: input.labels as Record<string, string> | undefined,
    credentialId: rowIdIfGiven('Credential', input.credentialId),
    becomeCredentialId: rowIdIfGiven('Credential', input.becomeCredentialId),
    bastionId: rowIdIfGiven('Credential', input.bastionId),
  }
}
