import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { bareId, globalId } from '../../ids.ts'

/** As much of an id as lists show: its last characters, which tell alerts apart; the first only tell when they began. */
export const shortId = (id: string) => bareId(id).slice(-8)

/** Global ids of alerts by their whole ids, or by what lists show of them, among those that are open. */
export async function alertIds(asked: string[]): Promise<string[]> {
  const isWhole = (id: string) => id.length >= 36
  if (asked.every(isWhole)) return asked.map((id) => globalId('Alert', id))
  const { alerts } = await request(
    graphql(`query AlertIds { alerts(filter: { isOpen: true }, first: 500) { edges { node { id } } } }`),
    {},
  )
  return asked.map((id) => {
    if (isWhole(id)) return globalId('Alert', id)
    const found = alerts.edges.filter(({ node }) => shortId(node.id) === id)
    if (found.length === 1) return found[0]!.node.id
    throw new CliError(`No open alert has the id ${id}. See \`muster alert list\`.`, EXIT.notFound)
  })
}
