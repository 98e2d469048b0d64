import { request } from '../../client.ts'
import { Command, commandGroup, type Output } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql, type VariablesOf } from '../../graphql.ts'
import { commaList, emptyToNull, integer, omitUndefined } from '../../options.ts'
import { ago, isTable, printObject, printRows } from '../../output.ts'
import { readText } from '../../read-text.ts'
import { nameList } from '../../selector.ts'
import { formatDiff } from './config/follow.ts'
import { clusterId, clusterNotFound } from './find-cluster.ts'
import { followOperation } from './operations/watch.ts'

const GET = graphql(`query PowerSaving($id: ID!) {
  slurmCluster(id: $id) {
    powerSaving {
      enabledAt tokenIssuedAt
      settings { suspendTimeSeconds suspendTimeoutSeconds resumeTimeoutSeconds suspendRate resumeRate excludedNodes excludedPartitions apiUrl caCertificate }
      requests { nodeName verb requestedAt refusedReason }
    }
  }
}`)
const PREVIEW = graphql(`query PowerSavingPreview($input: PreviewSlurmPowerSavingInput!) {
  previewSlurmPowerSaving(input: $input) {
    __typename
    ... on SlurmPowerSavingPreview {
      nodeNames excluded { nodeName reason } diff { file lines { kind text } } plan { controllers } blockedReason fingerprint
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const SET = graphql(`mutation SetPowerSaving($input: SetSlurmPowerSavingInput!) {
  setSlurmPowerSaving(input: $input) {
    __typename ... on SetSlurmPowerSavingPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
type Settings = NonNullable<VariablesOf<typeof SET>['input']['settings']>
const SHOWN = 10

const readPowerSaving = async (name: string) => {
  const id = await clusterId(name)
  const { slurmCluster } = await request(GET, { id })
  if (!slurmCluster) throw clusterNotFound(name)
  return { id, powerSaving: slurmCluster.powerSaving }
}

const show = () =>
  new Command('show')
    .description('show the settings, and the last request of slurmctld for each node')
    .argument('<name>', 'cluster')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const { powerSaving } = await readPowerSaving(name)
      if (!powerSaving)
        throw new CliError(`Power saving of ${name} is off. Turn it on with \`muster cluster power-saving set\`.`, EXIT.notFound)
      if (!isTable(output)) return printObject(powerSaving, output)
      const { settings, requests } = powerSaving
      printObject(powerSaving, output, [
        ['on since', ago(powerSaving.enabledAt) ?? 'not yet'],
        ['suspend after', `${settings.suspendTimeSeconds} s idle, ${settings.suspendRate} nodes per minute`],
        ['resume within', `${settings.resumeTimeoutSeconds} s, ${settings.resumeRate} nodes per minute`],
        ['power down within', `${settings.suspendTimeoutSeconds} s`],
        ['never suspended', [settings.excludedNodes, ...settings.excludedPartitions].filter(Boolean).join(', ') || null],
        ['Muster at', settings.apiUrl],
        ['token issued', ago(powerSaving.tokenIssuedAt)],
      ])
      process.stdout.write('\n')
      printRows(
        requests.map((row) => ({ ...row, id: row.nodeName, name: row.nodeName })),
        [
          { title: 'NODE', value: (r) => r.nodeName },
          { title: 'REQUEST', value: (r) => r.verb },
          { title: 'AGE', value: (r) => ago(r.requestedAt) },
          { title: 'REFUSED', value: (r) => r.refusedReason },
        ],
        output,
        'slurmctld has suspended no node yet.',
      )
    })

type Confirmed = { reason: string; yes?: boolean; watch: boolean }

/** Previews, asks, and starts the operation. */
async function apply(name: string, id: string, settings: Settings | null, { reason, yes, watch }: Confirmed): Promise<void> {
  const input = { clusterId: id, settings }
  const preview = orThrow((await request(PREVIEW, { input })).previewSlurmPowerSaving)
  for (const { nodeName, reason } of preview.excluded.slice(0, SHOWN))
    process.stderr.write(`${nodeName} is excluded: ${reason}\n`)
  if (preview.excluded.length > SHOWN) process.stderr.write(`… and ${preview.excluded.length - SHOWN} more nodes are excluded.\n`)
  if (preview.blockedReason) throw new CliError(preview.blockedReason, EXIT.rejected)
  if (!yes) {
    process.stderr.write(formatDiff(preview.diff))
    await confirmAction(
      settings
        ? `Let slurmctld of ${name} power nodes off and on: ${nameList(preview.nodeNames)}.`
        : `Turn power saving of ${name} off, and power suspended nodes on.`,
    )
  }
  const started = await request(SET, { input: { ...input, fingerprint: preview.fingerprint, reason } })
  await followOperation(orThrow(started.setSlurmPowerSaving).slurmOperation.id, { watch })
}

const withConfirmation = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'reason; recorded in the history and the audit log')
    .option('-y, --yes', YES_HELP)
    .option('--no-watch', 'do not wait for the end')

type Options = Confirmed & {
  url?: string
  caFile?: string
  suspendTime?: number
  suspendTimeout?: number
  resumeTimeout?: number
  suspendRate?: number
  resumeRate?: number
  excludeNodes?: string
  excludePartitions?: string[]
}

const set = () =>
  withConfirmation(
    new Command('set')
      .description('turn power saving on or change its settings; each call issues a new token to the controllers')
      .argument('<name>', 'managed cluster')
      .option('--url <url>', 'URL at which the controllers reach Muster, with https://; required the first time')
      .option('--ca-file <path>', "PEM file with the only accepted authorities of the URL; '' removes them")
      .option('--suspend-time <seconds>', 'idle time after which a node is powered off (default: 600)', integer)
      .option('--suspend-timeout <seconds>', 'time limit for a shutdown (default: 300)', integer)
      .option('--resume-timeout <seconds>', 'time limit for a boot; after it, the node is DOWN (default: 600)', integer)
      .option('--suspend-rate <nodes>', 'nodes to suspend per minute; 0: no limit (default: 60)', integer)
      .option('--resume-rate <nodes>', 'nodes to resume per minute; 0: no limit (default: 60)', integer)
      .option('--exclude-nodes <hostlist>', "nodes that are never suspended, by their names in Slurm; '' removes them")
      .option('--exclude-partitions <names>', 'partitions with nodes that are never suspended', commaList),
  ).action(async (name: string, options: Options) => {
    const { id, powerSaving } = await readPowerSaving(name)
    const apiUrl = options.url ?? powerSaving?.settings.apiUrl
    if (!apiUrl) throw new CliError('Set the URL at which the controllers reach Muster with --url.', EXIT.usage)
    const changes = omitUndefined({
      suspendTimeSeconds: options.suspendTime,
      suspendTimeoutSeconds: options.suspendTimeout,
      resumeTimeoutSeconds: options.resumeTimeout,
      suspendRate: options.suspendRate,
      resumeRate: options.resumeRate,
      excludedNodes: emptyToNull(options.excludeNodes),
      excludedPartitions: options.excludePartitions,
      caCertificate: options.caFile ? readText(options.caFile) : emptyToNull(options.caFile),
    })
    await apply(name, id, { ...powerSaving?.settings, ...changes, apiUrl } as Settings, options)
  })

const off = () =>
  withConfirmation(
    new Command('off')
      .description('turn power saving off: suspended nodes are powered on, and the token of the controllers is revoked')
      .argument('<name>', 'cluster'),
  ).action(async (name: string, options: Confirmed) => apply(name, await clusterId(name), null, options))

export const clusterPowerSaving = () =>
  commandGroup('power-saving', [show(), set(), off()]).description(
    'manage power saving of managed clusters: slurmctld powers idle nodes off, and on for jobs',
  )
