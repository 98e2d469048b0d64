import { type Cache, cacheExchange, type Data } from '@urql/exchange-graphcache'
import { Client, fetchExchange, mapExchange, subscriptionExchange } from 'urql'
import { getLanguage } from '@/messages/language.ts'
import { translateTexts } from '@/messages/translate-texts.ts'
import { embeddedTypes, possibleTypes } from './cache-schema.ts'
import { notifySignedOut } from './session.ts'
import { socket } from './socket.ts'

const agentKey = (agent: Data) => agent.agentId as string
/** Unique in the tenant. A switch of the tenant reloads the page. */
const roleKey = (role: Data) => role.name as string

/** One at a time. Without it, the key of every change would contain the text of the files, which is megabytes. */
const planKey = () => 'current'

/** Invalidates lists that a mutation changes: only the server knows the position of a new row. */
function invalidateLists(...fields: string[]) {
  return (_result: unknown, _args: unknown, cache: Cache) => {
    for (const { fieldName, arguments: args } of cache.inspectFields('Query')) {
      if (fields.includes(fieldName)) cache.invalidate('Query', fieldName, args ?? undefined)
    }
  }
}

/** The GraphQL client: normalized cache, HTTP for queries and mutations, one WebSocket for subscriptions. */
export function createConsoleClient(): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchOptions: () => (getLanguage() === 'en' ? {} : { headers: { 'x-message-codes': '1' } }),
    exchanges: [
      mapExchange({
        onResult(result) {
          if (result.error?.graphQLErrors.some((error) => error.extensions.code === 'UNAUTHENTICATED')) notifySignedOut()
        },
      }),
      cacheExchange({
        possibleTypes,
        keys: {
          ...Object.fromEntries(embeddedTypes.map((name) => [name, () => null])),
          Agent: agentKey,
          ManifestPlan: planKey,
          Role: roleKey,
        },
        updates: {
          Mutation: {
            createCredential: invalidateLists('credentials'),
            deleteCredential: invalidateLists('credentials'),
            createAgentEnrollmentToken: invalidateLists('agentEnrollmentTokens'),
            revokeAgentEnrollmentToken: invalidateLists('agentEnrollmentTokens'),
            createApiToken: invalidateLists('apiTokens'),
            revokeApiToken: invalidateLists('apiTokens'),
            createRole: invalidateLists('roles'),
            deleteRole: invalidateLists('roles'),
            createGrant: invalidateLists('grants'),
            deleteGrant: invalidateLists('grants'),
            createNodeGroup: invalidateLists('nodeGroups', 'nodeGroup'),
            updateNodeGroup: invalidateLists('nodeGroups', 'nodeGroup'),
            deleteNodeGroup: invalidateLists('nodeGroups', 'nodeGroup'),
            setNodeGroupMembers: invalidateLists('nodeGroups'),
            setOpenchamiTarget: invalidateLists('openchamiTarget'),
            removeOpenchamiTarget: invalidateLists('openchamiTarget'),
            applyManifests: invalidateLists('nodes', 'nodeFacets', 'credentials', 'nodeGroups', 'bootProfiles'),
            addNode: invalidateLists('nodes', 'nodeFacets', 'labOffer', 'credentials'),
            importNodes: invalidateLists('nodes', 'nodeFacets', 'labOffer', 'credentials'),
            purgeNode: invalidateLists('nodes', 'nodeFacets', 'labOffer', 'credentials'),
            runJob: invalidateLists('jobRuns'),
            retryJobRun: invalidateLists('jobRuns'),
          },
        },
      }),
      mapExchange({ onResult: (result) => ({ ...result, data: translateTexts(result.data, result.extensions?.messages) }) }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (operation) => ({
          subscribe: (sink) => ({ unsubscribe: socket().subscribe({ ...operation, query: operation.query ?? '' }, sink) }),
        }),
      }),
    ],
  })
}
