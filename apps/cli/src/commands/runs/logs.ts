import { Option } from 'commander'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { download } from '../../download.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { runNotFound } from '../../lookup.ts'
import { plain, write } from '../../output.ts'
import { RUN_HELP, runId } from '../../run-id.ts'
import { hostName } from '../../selector.ts'
import { follow } from './follow.ts'

const PAGE = 500

const LOGS = graphql(`query Logs($id: ID!, $after: String, $first: Int, $host: String) {
  node(id: $id) { __typename ... on JobRun { status logBlockedReason events(after: $after, first: $first, host: $host) { edges { node { stdout } } pageInfo { hasNextPage endCursor } } } }
}`)

type Options = { follow?: true; host?: string; format?: string; output?: string }

export const logs = () =>
  new Command('logs')
    .argument('<run>', RUN_HELP)
    .option('-f, --follow', 'follow until the run ends; the exit code is that of its status')
    .option('--host <selector>', 'only lines of this node: its name, or a selector that matches one node')
    .addOption(
      new Option(
        '--format <format>',
        'whole log as text, ansi (text with colors), ndjson (one event per line) or runner (events of ansible-runner)',
      ).choices(['text', 'ansi', 'ndjson', 'runner']),
    )
    .option('-o, --output <file>', 'write to this file')
    .action(async (idText: string, options: Options) => {
      const { format, output } = options
      if ((format || output) && (options.follow || options.host))
        throw new CliError('--format and --output cannot be combined with --follow or --host.', EXIT.usage)
      if (options.follow && options.host) throw new CliError('--follow and --host cannot be combined.', EXIT.usage)
      const id = await runId(idText)
      if (format || output) return download(`/api/runs/${encodeURIComponent(id)}/log?format=${format ?? 'text'}`, output)
      if (options.follow) {
        process.exitCode = await follow(id)
        return
      }
      const host = options.host && (await hostName(options.host))
      let after: string | null = null
      while (true) {
        const node = await fetchPage(id, after, host)
        if (node?.__typename !== 'JobRun') throw runNotFound(idText)
        if (node.logBlockedReason) throw new CliError(node.logBlockedReason, EXIT.rejected)
        const { edges, pageInfo } = node.events
        for (const { node: event } of edges) if (event.stdout !== null) await write(`${plain(event.stdout)}\n`)
        if (after === null && edges.length === 0) process.stderr.write(emptyLog(node.status, host))
        if (!pageInfo.hasNextPage) return
        after = pageInfo.endCursor
      }
    })

async function fetchPage(id: string, after: string | null, host?: string): Promise<ResultOf<typeof LOGS>['node']> {
  return (await request(LOGS, { id, after, first: PAGE, host: host ?? null })).node
}

const emptyLog = (status: string, host?: string) =>
  host ? `No lines of ${host} in this log.\n` : `The log is empty; the run is ${status}.\n`
