import { request } from '../../client.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { type SelectedNode, selectNode } from '../../selector.ts'

const ATTEMPTS = graphql(`query BootAttempts($id: ID!, $first: Int!) {
  node(id: $id) { ... on ComputeNode { bootAttempts(first: $first) { edges { node {
    state cause mac profile profileVersion startedAt finishedAt
    timeline { stage reachedAt durationMs } stuck { stage since }
    fetches { kind hash profile profileVersion hasToken refusal count firstAt lastAt address }
  } } } } }
}`)
type Found = Extract<NonNullable<ResultOf<typeof ATTEMPTS>['node']>, { bootAttempts: unknown }>
export type BootAttempt = Found['bootAttempts']['edges'][number]['node']

/** A node and its last boots, newest first. */
export async function attemptsOf(selector: string, first: number): Promise<{ node: SelectedNode; attempts: BootAttempt[] }> {
  const node = await selectNode(selector)
  const { node: found } = await request(ATTEMPTS, { id: node.id, first })
  return { node, attempts: found && 'bootAttempts' in found ? found.bootAttempts.edges.map((edge) => edge.node) : [] }
}

export const profileText = ({ profile, profileVersion }: { profile: string | null; profileVersion: number | null }) =>
  profile === null ? null : `${profile} v${profileVersion}`
