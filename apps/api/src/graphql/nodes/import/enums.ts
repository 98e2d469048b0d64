import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const ImportFormat = builder.enumType('ImportFormat', {
  description: 'Format of an import.',
  values: same({
    LIST: 'Addresses and hostlists such as `gpu[001-064]`, one per line or separated by commas.',
    CSV: 'A header line, then one node per line. Columns have the names of the node fields; credential, become_credential and bastion contain names of credentials.',
    INVENTORY: 'An Ansible inventory, INI or YAML.',
  }),
})

export const NodeImportState = builder.enumType('NodeImportState', {
  description: 'Result of one row of an import.',
  values: same({
    VALID: 'The node can be added.',
    ADDED: 'The node was added.',
    EXISTS: 'A node with this address exists.',
    INVALID: 'The row is invalid; see its issues.',
  }),
})
