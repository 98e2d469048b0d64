import { request } from '../../../client.ts'
import type { Command } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql, type ResultOf } from '../../../graphql.ts'
import { allowEmpty, emptyToNull, integer, omitUndefined } from '../../../options.ts'
import { fetchAll } from '../../../pages.ts'
import { askSecrets } from '../../../prompt.ts'
import { readText } from '../../../read-text.ts'

export const SINK_KINDS = ['WEBHOOK', 'SYSLOG'] as const
export type SinkKind = (typeof SINK_KINDS)[number]

export type SinkOptions = { host?: string; port?: number | ''; ca?: string; authorization?: boolean; stdin?: true }

/** Options for the receiver of a sink. Secrets are not options, because other users can see arguments. */
export const withSinkFields = (command: Command): Command =>
  command
    .option('--host <host>', 'SYSLOG: receiver, as in its certificate')
    .option('--port <port>', 'SYSLOG: port (default: 6514)', allowEmpty(integer))
    .option('--ca <file>', "SYSLOG: PEM file with the only accepted certificate authorities; '' for those that the worker trusts")
    .option('--authorization', 'WEBHOOK: ask for an Authorization header too')
    .option(
      '--stdin',
      'read secrets from standard input instead of asking: address, signing secret, Authorization header, one per line',
    )

/** Input fields of the API for the options. */
export function sinkFields({ host, port, ca, authorization }: SinkOptions) {
  return omitUndefined({
    host,
    port: emptyToNull(port),
    caCertificate: ca === undefined ? undefined : ca === '' ? null : readText(ca),
    authorization: authorization === false ? null : undefined,
  })
}

/** Asks for the secrets of a sink of this kind. */
export async function sinkSecrets(kind: SinkKind, { authorization, stdin }: SinkOptions): Promise<Record<string, string>> {
  if (kind === 'SYSLOG') return {}
  return askSecrets(
    [
      { field: 'url', question: 'Webhook URL' },
      { field: 'secret', question: 'Signing secret' },
      ...(authorization ? [{ field: 'authorization', question: 'Authorization header' }] : []),
    ],
    stdin,
  )
}

export const LIST = graphql(`query AuditSinkList($first: Int, $after: String) {
  auditSinks(first: $first, after: $after) {
    edges { node {
      id name kind origin host port isEnabled hasAuthorization deliveredSeq deliveredAt behindSince failingSince lastError retryAt
      testedAt testError
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)
export type SinkRow = ResultOf<typeof LIST>['auditSinks']['edges'][number]['node']

/** The sink with this name. */
export async function findSink(name: string): Promise<SinkRow> {
  const all = await fetchAll(async (page) => (await request(LIST, page)).auditSinks)
  const found = all.find((sink) => sink.name === name)
  if (!found) throw new CliError(`No audit sink named ${name}. See \`muster audit sink list\`.`, EXIT.notFound)
  return found
}
