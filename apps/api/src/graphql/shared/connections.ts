import type { ObjectRef } from '@pothos/core'
import { builder, type SchemaShape } from '../../builder.ts'
import { DEFAULT_PAGE, maxPage } from '../../limits.ts'

type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>

/** Connection and edge type of `type`, shared by all connection fields that list it. */
export function connectionTypes<Shape>(type: ObjectRef<Types, Shape>, name: string, plural: string) {
  const edge = builder.edgeObject({
    type,
    name: `${name}Edge`,
    description: `Edge in a page of ${plural}.`,
  })
  const connection = builder.connectionObject(
    {
      type,
      name: `${name}Connection`,
      description: `A page of ${plural}.`,
      fields: (t) => ({
        totalCount: t.int({
          description: `Number of ${plural} on all pages. Counted only when the field is selected.`,
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

/** Options of every connection. */
export const PAGED = { maxSize: maxPage, defaultSize: DEFAULT_PAGE } as const
