import type { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type VariablesOf } from '../../graphql.ts'
import { given, integer, oneOf, orEmpty, orNull, someOf, words } from '../../options.ts'
import { rowsOf } from '../../pages.ts'
import { ask, readStdin } from '../../prompt.ts'

export const ROUTE_KINDS = ['WEBHOOK', 'EMAIL', 'SLACK', 'DINGTALK', 'FEISHU', 'WECOM'] as const
export type RouteKind = (typeof ROUTE_KINDS)[number]
const SEVERITIES = ['INFO', 'WARNING', 'CRITICAL'] as const

export const CREATE = graphql(`mutation AlertRouteAdd($input: CreateAlertRouteInput!) {
  createAlertRoute(input: $input) { __typename ... on AlertRoute { name } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)
type Input = VariablesOf<typeof CREATE>['input']

export type RouteOptions = {
  host?: string
  port?: number | ''
  security?: 'TLS' | 'STARTTLS' | 'NONE'
  username?: string
  from?: string
  to?: string[]
  severity?: (typeof SEVERITIES)[number][]
  query?: string
  cluster?: string[]
  resolved?: false
  stdin?: true
}

/** The options that say where a route leads and what is told on it. What is secret is no option: arguments can be seen by others. */
export const withRouteFields = (command: Command): Command =>
  command
    .option('--host <host>', 'EMAIL: the mail server')
    .option('--port <port>', 'EMAIL: its port (465, 587 or 25)', orEmpty(integer))
    .option('--security <how>', 'EMAIL: TLS, STARTTLS or NONE (STARTTLS)', oneOf('TLS', 'STARTTLS', 'NONE'))
    .option('-u, --username <name>', 'EMAIL: who signs in there')
    .option('--from <address>', 'EMAIL: the sender')
    .option('--to <address...>', 'EMAIL: the receivers', words)
    .option('--severity <severity...>', `tell these only: ${SEVERITIES.join(' ')} (WARNING CRITICAL)`, someOf(...SEVERITIES))
    .option('--query <query>', 'tell of nodes that fit only: tag = prod and group = front')
    .option('--cluster <cluster...>', 'tell of these clusters only', words)
    .option('--no-resolved', 'do not tell the end of alerts')
    .option(
      '--stdin',
      'read what is secret from standard input instead of asking: the address, the secret or password, one a line',
    )

/** What the API is told of them. */
export function routeFields(options: RouteOptions): Partial<Input> {
  const { host, port, security, username, from, to, severity, query, cluster, resolved } = options
  const hasMatcher = severity || query !== undefined || cluster
  return given({
    host: orNull(host),
    port: orNull(port),
    security,
    username: orNull(username),
    // A password without its username would be refused.
    secret: username === '' ? null : undefined,
    from: orNull(from),
    to,
    matcher: hasMatcher ? { severities: severity ?? [], query: query || null, clusters: cluster ?? [] } : undefined,
    tellsResolved: resolved === false ? false : undefined,
  })
}

/** Asks for what is secret of a route of this kind; empty lines leave out what it may have. */
export async function routeSecrets(kind: RouteKind, options: RouteOptions): Promise<{ url?: string; secret?: string }> {
  const wanted = [
    ...(kind === 'EMAIL' ? [] : [{ field: 'url', question: 'Address of the hook' }]),
    ...(kind === 'WEBHOOK' ? [{ field: 'secret', question: 'Secret to sign with' }] : []),
    ...(['DINGTALK', 'FEISHU'].includes(kind) ? [{ field: 'secret', question: 'Secret to sign with, if there is one' }] : []),
    ...(kind === 'EMAIL' && options.username ? [{ field: 'secret', question: 'Password' }] : []),
  ]
  const lines = options.stdin ? (await readStdin()).split('\n') : []
  const given: Record<string, string> = {}
  for (const [i, { field, question }] of wanted.entries()) {
    const value = options.stdin ? lines[i]?.trim() : await ask(question, '--stdin', { hidden: true })
    if (value) given[field] = value
  }
  return given
}

const ROUTES = graphql(`query AlertRouteIds($first: Int, $after: String) {
  alertRoutes(first: $first, after: $after) { edges { node { id name kind } } pageInfo { hasNextPage endCursor } }
}`)

/** The route with this name. */
export async function findRoute(name: string): Promise<{ id: string; kind: RouteKind }> {
  const all = await rowsOf(async (page) => (await request(ROUTES, page)).alertRoutes)
  const found = all.find((route) => route.name === name)
  if (!found) throw new CliError(`No route is called ${name}. See \`muster alert-route list\`.`, EXIT.notFound)
  return found
}
