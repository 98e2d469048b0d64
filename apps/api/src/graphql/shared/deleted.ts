import { builder } from '../../builder.ts'

export const Deleted = builder.objectRef<{ id: string }>('Deleted').implement({
  description: 'A deleted object.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'ID of the deleted object.' }) }),
})
