import { createContextCache } from '@pothos/core'
import DataLoader from 'dataloader'
import type { ApiContext } from '../../context.ts'

/**
 * One DataLoader per request: keys requested while a list is resolved are read in one statement.
 * @param read returns the values by key; keys without a value are omitted
 */
export function loader<V>(read: (context: ApiContext, ids: readonly string[]) => Promise<Map<string, V>>) {
  const perContext = createContextCache(
    (context: ApiContext) =>
      new DataLoader<string, V | undefined>(async (ids) => {
        const found = await read(context, ids)
        return ids.map((id) => found.get(id))
      }),
  )
  return (context: ApiContext, id: string): Promise<V | undefined> => perContext(context).load(id)
}
