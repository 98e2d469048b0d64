import { createContextCache } from '@pothos/core'
import type { ResolveCursorConnectionArgs } from '@pothos/plugin-relay'
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

/** Arguments of one page, as `resolveCursorConnection` passes them. */
export type Page = Pick<ResolveCursorConnectionArgs, 'after' | 'before' | 'limit' | 'inverted'>

/**
 * As `loader`, for fields with arguments: keys with the same arguments are read in one statement.
 * @param read returns the values by key; keys without a value are omitted
 */
export function loaderWithArgs<V, Args extends object>(
  read: (context: ApiContext, ids: readonly string[], args: Args) => Promise<Map<string, V>>,
) {
  const perContext = createContextCache((_context: ApiContext) => new Map<string, ReturnType<typeof loader<V>>>())
  return (context: ApiContext, id: string, args: Args): Promise<V | undefined> => {
    const loaders = perContext(context)
    const key = JSON.stringify(args)
    const load = loaders.get(key) ?? loader<V>((of, ids) => read(of, ids, args))
    loaders.set(key, load)
    return load(context, id)
  }
}
