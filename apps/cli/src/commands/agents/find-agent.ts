import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { selectNode } from '../../selector.ts'

/**
 * The node that a selector matches, and the keys and fingerprint of its agent.
 * @throws CliError when it matches no node or several, or the node has no agent
 */
export async function findAgent(selector: string) {
  const { id, name } = await selectNode(selector)
  const { node } = await request(
    graphql(`query AgentOf($id: ID!) {
      node(id: $id) { ... on ComputeNode { agent { offeredFingerprint keys { id status fingerprint publicKey } } } }
    }`),
    { id },
  )
  const agent = node && 'agent' in node ? node.agent : null
  if (!agent)
    throw new CliError(`${name} has no agent. Create an enrollment token with \`muster agent token ${name}\`.`, EXIT.notFound)
  return { id, name, agent }
}
