import { builder } from '../../builder.ts'

export const Deleted = builder.objectRef<{ id: string }>('Deleted').implement({
  description: 'Something that is gone.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'The id that it had.' }) }),
})
