import type { ObjectRef } from '@pothos/core'
import { builder, type SchemaShape } from '../../builder.ts'
import { DEFAULT_PAGE, maxPage } from '../../limits.ts'

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>

/** Connection and edge type of `type`, to be given to every connection field that lists it. */
export function connectionTypes<Shape>(type: ObjectRef<Types, Shape>, name: string, plural: string) {
  const edge = builder.edgeObject({
    type,
    name: `${name}Edge`,
    description: `One of a page of ${plural}, with its place in the list.`,
  })
  const connection = builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: `A page of ${plural}.`,
      fields: (t) => ({
        totalCount: t.int({
          description: `How many ${plural} there are on all pages together. Counted only when asked for.`,
          extensions: { pothosDrizzleTotalCount: true },
          resolve: (page) => {
            const { totalCount } = page as { totalCount?: number | (() => number | Promise<number>) }
            return (typeof totalCount === 'function' ? totalCount() : totalCount) ?? 0
          },
        }),
      }),
    },
    edge,
  )
  return [connection, edge] as const
}

/** Options that every connection has. */
export const PAGED = { maxSize: maxPage, defaultSize: DEFAULT_PAGE } as const
