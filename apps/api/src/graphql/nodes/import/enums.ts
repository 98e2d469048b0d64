import { builder } from '../../../builder.ts'
import { same } from '../../shared/enum-values.ts'

export const ImportFormat = builder.enumType('ImportFormat', {
  description: 'How the text of an import is written.',
  values: same({
    LIST: 'Addresses and hostlists such as `gpu[001-064]`, one per line or separated by commas.',
    CSV: 'A heading line, then one node per line. Columns are named like the fields of a node; credential, become_credential and bastion hold names of credentials.',
    INVENTORY: 'An Ansible inventory, INI or YAML.',
  }),
})

export const NodeImportState = builder.enumType('NodeImportState', {
  description: 'What became of one row of an import.',
  values: same({
    VALID: 'It can be added.',
    ADDED: 'It was added.',
    EXISTS: 'A node of that name and address, or of that address, is there already.',
    INVALID: 'Its issues say what is wrong.',
  }),
})
