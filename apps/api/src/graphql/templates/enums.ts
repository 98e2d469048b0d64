import { builder } from '../../builder.ts'
import { upper } from '../shared/enum-values.ts'

export const PlaybookSource = builder.enumType('PlaybookSource', {
  description: 'Where a playbook comes from.',
  values: upper({
    shipped: 'The playbooks directory of Muster or of the installation.',
    bundle: 'An uploaded archive.',
    git: 'A git repository at the commit that each run fetches.',
  }),
})
