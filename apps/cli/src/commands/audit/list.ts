import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { integer, omitUndefined, someOf } from '../../options.ts'
import { ago, type Column, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { runId } from '../../run-id.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

const LIST = graphql(`query AuditList($filter: AuditFilter, $first: Int, $after: String) {
  auditEntries(filter: $filter, first: $first, after: $after) {
    edges { node {
      entryId createdAt action outcome error count actorKind actorName user { name } sessionId channel userAgent address permission
      objectId objectName changes { field before after } details { name value } reason requestId runId seq hash
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Row = ResultOf<typeof LIST>['auditEntries']['edges'][number]['node']

const OUTCOMES = ['SUCCEEDED', 'DENIED', 'FAILED'] as const
const CHANNELS = ['CONSOLE', 'CLI', 'API', 'AGENT', 'WORKER', 'SYSTEM'] as const
const ACTOR_KINDS = ['USER', 'TOKEN', 'AGENT', 'WORKER', 'SYSTEM', 'ANONYMOUS'] as const
type Options = Output & {
  action?: string[]
  outcome?: (typeof OUTCOMES)[number][]
  actor?: string
  actorKind?: (typeof ACTOR_KINDS)[number][]
  channel?: (typeof CHANNELS)[number][]
  address?: string
  node?: string
  object?: string
  run?: string
  since?: string
  until?: string
  text?: string
  installation?: boolean
  number: number
}

/** For example `name: "a" -> "b"; maxConcurrentRuns: 4`. */
const changeText = ({ changes }: Row): string =>
  changes
    .map(({ field, before, after }) => `${field}: ${[before, after].filter((each) => each !== null).join(' -> ')}`)
    .join('; ')

/** A token is shown with its owner, because its name says little. */
const actorText = ({ actorKind, actorName, user }: Row): string =>
  actorKind === 'TOKEN' && user ? `${user.name} (${actorName})` : actorName

const COLUMNS: Column<Row>[] = [
  { title: 'TIME', value: (e) => ago(e.createdAt) },
  { title: 'ACTOR', value: actorText },
  { title: 'ACTION', value: (e) => e.action },
  { title: 'OBJECT', value: (e) => e.objectName },
  { title: 'OUTCOME', value: (e) => (e.count > 1 ? `${e.outcome} x${e.count}` : e.outcome) },
  { title: 'FROM', value: (e) => [e.channel.toLowerCase(), e.address].filter(Boolean).join(' ') },
  { title: 'CHANGE', value: changeText, wide: true },
  { title: 'REASON', value: (e) => e.reason ?? e.error, wide: true },
]

export const auditList = () =>
  new Command('list')
    .description('list entries, newest first')
    .option('--action <action...>', 'actions such as job_run.cancel, or job_run for all of them')
    .option('--outcome <outcome...>', OUTCOMES.join(' '), someOf(...OUTCOMES))
    .option('--actor <text>', 'the name of the actor contains this text')
    .option('--actor-kind <kind...>', ACTOR_KINDS.join(' '), someOf(...ACTOR_KINDS))
    .option('--channel <channel...>', CHANNELS.join(' '), someOf(...CHANNELS))
    .option('--address <address>', 'from this network address')
    .option('--node <selector>', `concerns ${ONE_NODE_HELP}`)
    .option('--object <id>', 'concerns the object with this ID')
    .option('--run <run>', 'concerns this run, or was done on its behalf')
    .option('--since <time>', 'at this time or later, such as 2026-11-22T08:00:00Z')
    .option('--until <time>', 'before this time')
    .option('--text <text>', 'the action, actor, object, reason, error or address contains this text')
    .option(
      '--installation',
      'entries of the installation, such as sign-ins with unknown email addresses; for installation administrators',
    )
    .option('-n, --number <n>', 'maximum number of rows', integer, 100)
    .withOutput()
    .action(
      async ({
        action,
        outcome,
        actor,
        actorKind,
        channel,
        address,
        node,
        object,
        run,
        since,
        until,
        text,
        installation,
        number,
        ...output
      }: Options) => {
        const objectId = node ? (await selectNode(node)).id : object
        const filter = {
          ...omitUndefined({ action, outcome, actor, actorKind, channel, address, objectId, text, ofInstallation: installation }),
          ...omitUndefined({ runId: run ? await runId(run) : undefined, createdAfter: since, createdBefore: until }),
        }
        const rows = await fetchAll(async (page) => (await request(LIST, { filter, ...page })).auditEntries, number)
        printRows(rows, COLUMNS, output, 'No entries.')
      },
    )
