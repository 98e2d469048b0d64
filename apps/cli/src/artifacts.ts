import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'
import { runId } from './ids.ts'

/** The files that a run left. @param idText as `runId` takes it */
export async function artifactsOf(idText: string) {
  const { node } = await request(
    graphql(`query Artifacts($id: ID!) {
      node(id: $id) {
        __typename
        ... on JobRun { artifacts { kind path size sha256 createdAt removedAt downloadUrl downloadBlockedReason } }
      }
    }`),
    { id: await runId(idText) },
  )
  if (node?.__typename !== 'JobRun') throw new CliError(`There is no run ${idText}. See \`muster runs\`.`, EXIT.notFound)
  return node.artifacts
}
