import { request, subscribe } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { integer, someOf } from '../../options.ts'
import { ago, type Column, printRows, toJson } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { shortId } from './ids.ts'

const FIELDS = graphql(`fragment AlertFields on Alert {
  id kind severity message cluster openedAt lastSeenAt count resolvedAt acknowledgedAt acknowledgedBy { name } acknowledgment
  node { name }
  silence { reason endsAt }
  evidence {
    __typename
    ... on AgentStateEvidence { lastHeartbeatAt silentSeconds bootEpoch sequence slurmState rejectionCode rejectionCount runningJobs drainReason }
    ... on HeartbeatIntervalEvidence { intervalSeconds meanSeconds deviationSeconds zScore }
    ... on SequenceGapEvidence { missed sequence }
    ... on KeyChangeEvidence { publicKey keyFingerprint seenFrom }
    ... on DuplicateKeyEvidence { receivedAt rejected { bootEpoch sequence bootId } accepted { bootEpoch sequence bootId } }
    ... on HardwareChangeEvidence { fingerprint seenFrom }
    ... on ClockSkewEvidence { skewMs }
    ... on AcceleratorCountEvidence { before now lost }
    ... on MassOutageEvidence { silentNodes totalNodes }
    ... on AuditSinkEvidence { sinks { name since error } }
    ... on OpenchamiTargetEvidence { differenceCount objects error }
    ... on ScheduleEvidence { schedules { name dueAt runNumber reason } }
  }
}`)
const LIST = graphql(
  `query AlertList($filter: AlertFilter, $first: Int, $after: String) {
    alerts(filter: $filter, first: $first, after: $after) {
      edges { node { ...AlertFields } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  [FIELDS],
)
type Row = ResultOf<typeof LIST>['alerts']['edges'][number]['node']
const SEVERITIES = ['INFO', 'WARNING', 'CRITICAL'] as const
type Options = Output & {
  all?: true
  severity?: (typeof SEVERITIES)[number][]
  node?: string
  number: number
  follow?: true
}

const CURSOR = graphql(`query AlertCursor { alertUpdateCursor }`)
const UPDATES = graphql(
  `subscription AlertFollow($after: String!) { alertUpdated(after: $after) { cursor alert { ...AlertFields } } }`,
  [FIELDS],
)

export const alertList = () =>
  new Command('list')
    .description('list open alerts, newest first')
    .option('--all', 'include resolved alerts')
    .option('--severity <severity...>', SEVERITIES.join(' '), someOf(...SEVERITIES))
    .option('--node <selector>', `alerts of these ${SELECTOR_HELP}`)
    .option('-n, --number <n>', 'maximum number of rows', integer, 100)
    .option('-f, --follow', 'then print each new and changed alert until Ctrl-C')
    .withOutput()
    .action(async ({ all, severity, node, number, follow, ...output }: Options) => {
      const nodes = node ? await selectNodes(node) : null
      const filter = {
        ...(all ? {} : { isOpen: true }),
        ...(severity ? { severity } : {}),
        ...(node ? { limit: node } : {}),
      }
      // Read before the list, so that no change between the list and the subscription is lost.
      const cursor = follow ? (await request(CURSOR, {})).alertUpdateCursor : null
      const rows = await fetchAll(async (page) => (await request(LIST, { filter, ...page })).alerts, number)
      printRows(rows, COLUMNS, output, 'No open alerts.')
      if (cursor !== null)
        await followAlerts(
          cursor,
          output,
          (alert) =>
            (!severity || severity.includes(alert.severity)) && (!nodes || nodes.some(({ name }) => name === alert.node?.name)),
        )
    })

const COLUMNS: Column<Row>[] = [
  { title: 'ID', value: (a) => shortId(a.id) },
  { title: 'SEVERITY', value: (a) => a.severity },
  { title: 'STATE', value: state },
  { title: 'OPENED', value: (a) => ago(a.openedAt) },
  { title: 'ALERT', value: (a) => a.message },
  { title: 'COUNT', value: (a) => a.count, wide: true },
  { title: 'NOTE', value: (a) => a.acknowledgment, wide: true },
]

/** Prints every update: one table row, one line of JSON, or one YAML document. */
async function followAlerts(after: string, output: Output, matches: (alert: Row) => boolean): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  let cursor = after
  for await (const { alertUpdated } of subscribe(UPDATES, () => ({ after: cursor }), stop.signal)) {
    const { alert } = alertUpdated
    cursor = alertUpdated.cursor
    if (!matches(alert)) continue
    if (output.output === 'json') process.stdout.write(`${toJson(alert)}\n`)
    else printRows([alert], COLUMNS, { ...output, headers: false })
  }
  process.exitCode = EXIT.interrupted
}

function state(alert: Row): string {
  if (alert.resolvedAt) return 'resolved'
  if (alert.silence) return 'silenced'
  return alert.acknowledgedAt ? `acknowledged by ${alert.acknowledgedBy?.name}` : 'open'
}
