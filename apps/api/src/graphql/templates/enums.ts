import { builder } from '../../builder.ts'
import { upper } from '../shared/enum-values.ts'

export const PlaybookSource = builder.enumType('PlaybookSource', {
  description: 'Where a playbook comes from.',
  values: upper({
    shipped: 'The playbooks directory of the product or of whoever runs it.',
    bundle: 'An archive that somebody uploaded.',
    git: 'A git repository, at the commit that each run fetches.',
  }),
})
