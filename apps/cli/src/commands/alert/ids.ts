import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { bareId, globalId } from '../../ids.ts'
import { rowsOf } from '../../pages.ts'

/** As much of an id as lists show: its last characters, which tell alerts apart; the first only tell when they began. */
export const shortId = (id: string) => bareId(id).slice(-8)

const OPEN = graphql(`query AlertIds($first: Int, $after: String) {
  alerts(filter: { isOpen: true }, first: $first, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } }
}`)

/** Global ids of alerts by their whole ids, or by what lists show of them, among those that are open. */
export async function alertIds(asked: string[]): Promise<string[]> {
  const isWhole = (id: string) => id.length >= 36
  if (asked.every(isWhole)) return asked.map((id) => globalId('Alert', id))
  const open = await rowsOf(async (page) => (await request(OPEN, page)).alerts)
  return asked.map((id) => {
    if (isWhole(id)) return globalId('Alert', id)
    const found = open.filter((alert) => shortId(alert.id) === id)
    if (found.length === 1) return found[0]!.id
    throw new CliError(`No open alert has the id ${id}. See \`muster alert list\`.`, EXIT.notFound)
  })
}
