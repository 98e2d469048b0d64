import { type Cache, cacheExchange, type Data } from '@urql/exchange-graphcache'
import { Client, fetchExchange, mapExchange, subscriptionExchange } from 'urql'
import { signedOut } from './session.ts'
import { socket } from './socket.ts'

const embedded = [
  'AgentBucket',
  'AgentFleet',
  'AgentSettings',
  'AgentStateCount',
  'AgentTransition',
  'AgentVerdict',
  'AlertMatcher',
  'AcceleratorPartition',
  'AcceleratorSummary',
  'DiscoveryChange',
  'Facet',
  'FleetCluster',
  'Heartbeat',
  'HostKeyAlarm',
  'HostSummary',
  'InputIssue',
  'JobRunEvent',
  'JobRunEventBatch',
  'JobRunHost',
  'LabNodeOffer',
  'LabOffer',
  'LastHeartbeat',
  'NodeFacets',
  'NodeImportReport',
  'NodeImportRow',
  'OfferedKey',
  'PageInfo',
  'PreflightStage',
  'QueueState',
  'RunObstacle',
  'RunPreview',
  'RunRefusal',
  'ToolReport',
  'Viewer',
]

const agentKey = (agent: Data) => agent.agentId as string

// Without the schema the cache would guess whether `... on Error` fits a result, and its guess loses the server's words.
const possibleTypes = {
  Error: ['ConflictError', 'ForbiddenError', 'InvalidInputError', 'NotFoundError', 'UnauthenticatedError', 'UnavailableError'],
}

/** Lists that a mutation changes are read again: a new row's place in a filtered, ordered list is the server's to know. */
function forget(...fields: string[]) {
  return (_result: unknown, _args: unknown, cache: Cache) => {
    for (const { fieldName, arguments: args } of cache.inspectFields('Query')) {
      if (fields.includes(fieldName)) cache.invalidate('Query', fieldName, args ?? undefined)
    }
  }
}

/** A GraphQL client on this origin: normalised cache, HTTP for reads and verbs, one WebSocket for what is live. */
export function createConsoleClient(): Client {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    exchanges: [
      mapExchange({
        onResult(result) {
          if (result.error?.graphQLErrors.some((error) => error.extensions.code === 'UNAUTHENTICATED')) signedOut()
        },
      }),
      cacheExchange({
        possibleTypes,
        keys: {
          ...Object.fromEntries([...embedded, ...possibleTypes.Error].map((name) => [name, () => null])),
          Agent: agentKey,
        },
        updates: {
          Mutation: {
            createCredential: forget('credentials'),
            deleteCredential: forget('credentials'),
            createAgentEnrolmentToken: forget('agentEnrolmentTokens'),
            revokeAgentEnrolmentToken: forget('agentEnrolmentTokens'),
            createApiToken: forget('apiTokens'),
            revokeApiToken: forget('apiTokens'),
            addNode: forget('nodes', 'nodeFacets', 'labOffer', 'credentials'),
            importNodes: forget('nodes', 'nodeFacets', 'labOffer', 'credentials'),
            purgeNode: forget('nodes', 'nodeFacets', 'labOffer', 'credentials'),
            runJob: forget('jobRuns'),
            retryJobRun: forget('jobRuns'),
          },
        },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (operation) => ({
          subscribe: (sink) => ({ unsubscribe: socket().subscribe({ ...operation, query: operation.query ?? '' }, sink) }),
        }),
      }),
    ],
  })
}
