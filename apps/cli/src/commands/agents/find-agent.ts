import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeNotFound } from '../../lookup.ts'

/** ID of a node, and the keys and fingerprint of its agent. @throws CliError when the node or its agent does not exist */
export async function findAgent(name: string) {
  const { computeNode: node } = await request(
    graphql(`query AgentOf($name: String!) {
      computeNode(name: $name) { id agent { offeredFingerprint keys { id status fingerprint publicKey } } }
    }`),
    { name },
  )
  if (!node) throw nodeNotFound(name)
  if (!node.agent)
    throw new CliError(`${name} has no agent. Create an enrollment token with \`muster agent token ${name}\`.`, EXIT.notFound)
  return { id: node.id, agent: node.agent }
}
