import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { noNode } from '../../ids.ts'

/** A node's id and what of its agent commands compare. @throws CliError there is no such node, or it has no agent */
export async function agentOf(name: string) {
  const { computeNode: node } = await request(
    graphql(`query AgentOf($name: String!) {
      computeNode(name: $name) { id agent { offeredFingerprint keys { id status fingerprint publicKey } } }
    }`),
    { name },
  )
  if (!node) throw noNode(name)
  if (!node.agent) throw new CliError(`${name} has no agent. \`muster agent token ${name}\` lets one in.`, EXIT.notFound)
  return { id: node.id, agent: node.agent }
}
