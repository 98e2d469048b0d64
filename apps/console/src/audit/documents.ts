import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const AuditEntriesQuery = graphql(`
  query AuditEntries($filter: AuditFilter, $first: Int, $after: String) {
    auditEntries(filter: $filter, first: $first, after: $after) {
      edges {
        node {
          id: entryId createdAt action outcome error count actorKind actorName user { id name } channel userAgent address permission objectId objectName
          changes { field before after }
          details { name value }
          reason requestId runId seq hash
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type AuditEntry = ResultOf<typeof AuditEntriesQuery>['auditEntries']['edges'][number]['node']
/** A token is shown with its owner, because its name says little. */
export const actorText = ({ actorKind, actorName, user }: AuditEntry): string =>
  actorKind === 'TOKEN' && user ? `${user.name} (${actorName})` : actorName
export type AuditFilter = NonNullable<VariablesOf<typeof AuditEntriesQuery>['filter']>

export const AuditActionsQuery = graphql(`query AuditActions { auditActions }`)

export const AuditChainQuery = graphql(`
  query AuditChain($afterSeq: BigInt, $ofInstallation: Boolean) {
    auditChain(afterSeq: $afterSeq, ofInstallation: $ofInstallation) {
      lastSeq lastHash hasMore checkedCount unsealedCount oldestUnsealedAt
      problems { kind firstSeq lastSeq }
    }
  }
`)
