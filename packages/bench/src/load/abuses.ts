// Limits of docs/integrate.md.
const MAX_ALIASES = 50
const MAX_TOKENS = 5000
const MAX_PAGE = 500
const MAX_BODY_BYTES = 25_000_000
const MAX_ANONYMOUS_BODY_BYTES = 1_000_000

const repeat = (count: number, of: (i: number) => string) => Array.from({ length: count }, (_, i) => of(i)).join(' ')
const operation = (query: string, variables: object = {}) => ({ path: '/graphql', body: JSON.stringify({ query, variables }) })
const RUNS = 'runs(first: 50) { edges { node { hosts(first: 50) { edges { node { node { '

type Abuse = {
  path: string
  /** Sent with POST; without it the request is a GET. */
  body?: string
  frame?: Buffer
  /** The body arrives byte by byte and never ends. */
  isSlow?: true
  isAnonymous?: true
  /** The requests exceed no limit: others share the API with them. */
  isAllowed?: true
  /** The answers that this may have: the name of the limit, a status, a WebSocket close code, or `ok`. */
  answers: string[]
}

/** Requests of one client that should not slow down the others. */
export const ABUSES: Record<string, Abuse> = {
  depth: { ...operation(`{ nodes { edges { node { ${RUNS.repeat(3)} id ${'} '.repeat(21)} } } } }`), answers: ['DEPTH'] },
  aliases: { ...operation(`{ ${repeat(MAX_ALIASES * 4, (i) => `a${i}: viewer { name }`)} }`), answers: ['ALIASES'] },
  tokens: { ...operation(`{ viewer { ${'name '.repeat(MAX_TOKENS * 4)} } }`), answers: ['TOKENS'] },
  cost: {
    ...operation(
      `{ nodes(first: ${MAX_PAGE}) { edges { node { runs(first: ${MAX_PAGE}) { edges { node { id number status } } } } } } }`,
    ),
    answers: ['COST'],
  },
  body_bytes: {
    ...operation('{ __typename }', { pad: 'x'.repeat(MAX_BODY_BYTES) }),
    answers: ['BODY', 'LARGE_BODIES', 'cut off'],
  },
  anonymous_body_bytes: {
    ...operation('{ __typename }', { pad: 'x'.repeat(MAX_ANONYMOUS_BODY_BYTES) }),
    isAnonymous: true,
    answers: ['BODY', 'cut off'],
  },
  frame_of_100_mb: { path: '/graphql', frame: Buffer.alloc(100_000_000, 'x'), answers: ['1009', '1006'] },
  parallel_large_pages: {
    ...operation(
      `{ nodes(first: ${MAX_PAGE}) { edges { node { id name host status tags accelerators { index model health } } } } }`,
    ),
    isAllowed: true,
    answers: ['ok', 'OPERATIONS'],
  },
  slow_bodies: {
    ...operation('{ viewer { name } }', { pad: 'x'.repeat(MAX_ANONYMOUS_BODY_BYTES / 2) }),
    isSlow: true,
    answers: ['slow', 'cut off'],
  },
  parallel_inventory: { path: '/api/inventory', isAllowed: true, answers: ['ok', '429'] },
  anonymous_inventory: { path: '/api/inventory', isAnonymous: true, isAllowed: true, answers: ['401'] },
}
