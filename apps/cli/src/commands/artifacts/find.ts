import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { runNotFound } from '../../lookup.ts'
import { runId } from '../../run-id.ts'

/** The artifacts of a run. @param run number, ID or `last` */
export async function findArtifacts(run: string) {
  const { node } = await request(
    graphql(`query Artifacts($id: ID!) {
      node(id: $id) {
        __typename
        ... on JobRun { artifacts { kind path sizeBytes sha256 createdAt removedAt downloadUrl downloadBlockedReason } }
      }
    }`),
    { id: await runId(run) },
  )
  if (node?.__typename !== 'JobRun') throw runNotFound(run)
  return node.artifacts
}
