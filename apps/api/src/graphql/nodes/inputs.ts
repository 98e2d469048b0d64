import { builder } from '../../builder.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import type { InputFields } from '../shared/mutation.ts'
import { ConnectionType, NodeType } from './enums.ts'
import { ImportFormat } from './import/enums.ts'

/** Optional fields of a node that users set. */
export const optionalFields = (t: InputFields) => ({
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

export const NAME = 'Inventory name, unique in the tenant: letters, digits and `.` `_` `-`.'

export const HOST = 'Host name, IPv4 address or IPv6 address.'

const NodeDefaultsInput = builder.inputType('NodeDefaultsInput', {
  description: 'Defaults for the rows of an import. Values in a row take precedence.',
  fields: (t) => ({ name: t.string({ description: NAME }), host: t.string({ description: HOST }), ...optionalFields(t) }),
})

/** Fields of an import, for the mutation and for its validation. */
export const importFields = (t: InputFields) => ({
  format: t.field({ type: ImportFormat, required: true, description: 'Format of the text.' }),
  text: t.string({ required: true, description: 'Host list, CSV table or Ansible inventory.' }),
  defaults: t.field({ type: NodeDefaultsInput, description: 'Defaults for all rows.' }),
  onlyRows: t.intList({ description: 'Row numbers to import, for example to retry failed rows. Default: all rows.' }),
})

type References = { credentialId?: string | null; becomeCredentialId?: string | null; bastionId?: string | null }

/** Replaces the global IDs of credentials by row IDs. The verb validates the labels. */
export function withRowIds<T extends References & { labels?: unknown }>(input: T) {
  return {
    ...input,
    labels: input.labels as Record<string, string> | undefined,
    credentialId: rowIdIfGiven('Credential', input.credentialId),
    becomeCredentialId: rowIdIfGiven('Credential', input.becomeCredentialId),
    bastionId: rowIdIfGiven('Credential', input.bastionId),
  }
}
