import { request } from '../../../client.ts'
import type { Command } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql, type VariablesOf } from '../../../graphql.ts'
import { allowEmpty, commaList, emptyToNull, integer, omitUndefined, oneOf, someOf } from '../../../options.ts'
import { fetchAll } from '../../../pages.ts'
import { askSecrets } from '../../../prompt.ts'

export const ROUTE_KINDS = ['WEBHOOK', 'EMAIL', 'SLACK', 'DINGTALK', 'FEISHU', 'WECOM'] as const
export type RouteKind = (typeof ROUTE_KINDS)[number]
const SEVERITIES = ['INFO', 'WARNING', 'CRITICAL'] as const

export const CREATE = graphql(`mutation AlertRouteAdd($input: CreateAlertRouteInput!) {
  createAlertRoute(input: $input) { __typename ... on CreateAlertRoutePayload { alertRoute { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
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

/** Options for the target and the filter of a route. Secrets are not options, because other users can see arguments. */
export const withRouteFields = (command: Command): Command =>
  command
    .option('--host <host>', 'EMAIL: mail server')
    .option('--port <port>', 'EMAIL: port (465, 587 or 25)', allowEmpty(integer))
    .option('--security <mode>', 'EMAIL: TLS, STARTTLS or NONE (default: STARTTLS)', oneOf('TLS', 'STARTTLS', 'NONE'))
    .option('-u, --username <name>', 'EMAIL: user name')
    .option('--from <address>', 'EMAIL: sender')
    .option('--to <address...>', 'EMAIL: recipients', commaList)
    .option(
      '--severity <severity...>',
      `only these severities: ${SEVERITIES.join(' ')} (default: WARNING CRITICAL)`,
      someOf(...SEVERITIES),
    )
    .option('--query <query>', 'only nodes that match: tag = prod and group = front')
    .option('--cluster <cluster...>', 'only these clusters', commaList)
    .option('--no-resolved', 'send no message when an alert resolves')
    .option('--stdin', 'read secrets from standard input instead of asking: address, then secret or password, one per line')

/** Input fields of the API for the options. */
export function routeFields(options: RouteOptions): Partial<Input> {
  const { host, port, security, username, from, to, severity, query, cluster, resolved } = options
  const hasMatcher = severity || query !== undefined || cluster
  return omitUndefined({
    host: emptyToNull(host),
    port: emptyToNull(port),
    security,
    username: emptyToNull(username),
    // The API rejects a password without a username.
    secret: username === '' ? null : undefined,
    from: emptyToNull(from),
    to,
    matcher: hasMatcher ? { severities: severity ?? [], query: query || null, clusters: cluster ?? [] } : undefined,
    notifyOnResolve: resolved === false ? false : undefined,
  })
}

/** Asks for the secrets of a route of this kind; an empty answer omits an optional secret. */
export async function routeSecrets(kind: RouteKind, options: RouteOptions): Promise<{ url?: string; secret?: string }> {
  const questions = [
    ...(kind === 'EMAIL' ? [] : [{ field: 'url', question: 'Webhook URL' }]),
    ...(kind === 'WEBHOOK' ? [{ field: 'secret', question: 'Signing secret' }] : []),
    ...(['DINGTALK', 'FEISHU'].includes(kind) ? [{ field: 'secret', question: 'Signing secret (optional)' }] : []),
    ...(kind === 'EMAIL' && options.username ? [{ field: 'secret', question: 'Password' }] : []),
  ]
  return askSecrets(questions, options.stdin)
}

const ROUTES = graphql(`query AlertRouteIds($first: Int, $after: String) {
  alertRoutes(first: $first, after: $after) { edges { node { id name kind } } pageInfo { hasNextPage endCursor } }
}`)

/** The alert route with this name. */
export async function findRoute(name: string): Promise<{ id: string; kind: RouteKind }> {
  const all = await fetchAll(async (page) => (await request(ROUTES, page)).alertRoutes)
  const found = all.find((route) => route.name === name)
  if (!found) throw new CliError(`No alert route named ${name}. See \`muster alert-route list\`.`, EXIT.notFound)
  return found
}
