import { Command, Option } from 'commander'
import { request } from '../client.ts'
import { download } from '../download.ts'
import { CliError, EXIT } from '../errors.ts'
import { follow, plain } from '../follow.ts'
import { graphql } from '../graphql.ts'
import { noRun, runId } from '../ids.ts'
import { write } from '../output.ts'

const PAGE = 2000

type Options = { follow?: true; host?: string; format?: string; output?: string }

export const logs = () =>
  new Command('logs')
    .description("print a run's log")
    .argument('<run>', 'id of the run, or `last`')
    .option('-f, --follow', 'go on until the run is over; the exit code says how it ended')
    .option('--host <name>', 'only what concerns this node')
    .addOption(
      new Option(
        '--format <format>',
        'all of it, as text, with colours, as one event a line, or as ansible-runner writes events',
      ).choices(['text', 'ansi', 'ndjson', 'runner']),
    )
    .option('-o, --output <file>', 'write it to this file')
    .action(async (idText: string, options: Options) => {
      const { format, output } = options
      if ((format || output) && (options.follow || options.host))
        throw new CliError('--format and --output go with neither --follow nor --host.', EXIT.usage)
      if (options.follow && options.host) throw new CliError('--follow and --host do not go together.', EXIT.usage)
      const id = await runId(idText)
      if (format || output) return download(`/api/runs/${encodeURIComponent(id)}/log?format=${format ?? 'text'}`, output)
      if (options.follow) {
        process.exitCode = await follow(id)
        return
      }
      let after = 0
      while (true) {
        const { node } = await request(
          graphql(`query Logs($id: ID!, $after: BigInt, $first: Int, $host: String) {
            node(id: $id) { __typename ... on JobRun { status logBlockedReason events(after: $after, first: $first, host: $host) { seq stdout } } }
          }`),
          { id, after, first: PAGE, host: options.host ?? null },
        )
        if (node?.__typename !== 'JobRun') throw noRun(idText)
        if (node.logBlockedReason) throw new CliError(node.logBlockedReason, EXIT.refused)
        for (const event of node.events) if (event.stdout !== null) await write(`${plain(event.stdout)}\n`)
        if (after === 0 && node.events.length === 0) process.stderr.write(nothing(node.status, options.host))
        if (node.events.length < PAGE) return
        after = node.events.at(-1)!.seq
      }
    })

const nothing = (status: string, host?: string) =>
  host ? `Nothing in this log concerns ${host}.\n` : `Nothing in this log yet; the run is ${status}.\n`
