import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const ViewerKind = builder.enumType('ViewerKind', {
  description: 'How a caller is authenticated.',
  values: same({ USER: 'A user with a session.', API_TOKEN: 'A program with an API token.' }),
})
