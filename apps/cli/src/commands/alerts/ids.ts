import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { bareId, globalId } from '../../ids.ts'
import { fetchAll } from '../../pages.ts'

/** Short ID in lists: the last characters, because the first ones encode the time. */
export const shortId = (id: string) => bareId(id).slice(-8)

const OPEN = graphql(`query AlertIds($first: Int, $after: String) {
  alerts(filter: { isOpen: true }, first: $first, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } }
}`)

/** Global IDs of alerts for full IDs, or for short IDs of open alerts. */
export async function alertIds(ids: string[]): Promise<string[]> {
  const isFull = (id: string) => id.length >= 36
  if (ids.every(isFull)) return ids.map((id) => globalId('Alert', id))
  const open = await fetchAll(async (page) => (await request(OPEN, page)).alerts)
  return ids.map((id) => {
    if (isFull(id)) return globalId('Alert', id)
    const found = open.filter((alert) => shortId(alert.id) === id)
    if (found.length === 1) return found[0]!.id
    throw new CliError(`No open alert ${id}. See \`muster alert list\`.`, EXIT.notFound)
  })
}
