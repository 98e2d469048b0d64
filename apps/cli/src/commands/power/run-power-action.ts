import { request, subscribe } from '../../client.ts'
import type { Command, Output } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql, type VariablesOf } from '../../graphql.ts'
import { omitUndefined } from '../../options.ts'
import { count, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { nameList, selectNodes } from '../../selector.ts'

const PREVIEW = graphql(`query PowerRunPreview($input: PreviewPowerRunInput!) {
  previewPowerRun(input: $input) {
    __typename
    ... on PowerRunPreview { targetCount blockedCount parallelism delaySeconds targets(first: 50) { edges { node { name powerState blockedReason } } } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const START = graphql(`mutation PowerRunStart($input: StartPowerRunInput!) {
  startPowerRun(input: $input) {
    __typename
    ... on StartPowerRunPayload { powerRun { id } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const UPDATES = graphql(`subscription PowerRunUpdates($id: ID!) { powerRunUpdated(id: $id) { status finishedAt } }`)
const ITEMS = graphql(`query PowerRunItems($id: ID!, $first: Int, $after: String) {
  powerRun(id: $id) {
    items(first: $first, after: $after) {
      edges { node { nodeName result before after message } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

type Input = VariablesOf<typeof START>['input']
export type PowerRequest = Pick<Input, 'action' | 'bootDevice'>
export type PowerOptions = Output & {
  reason: string
  force?: true
  parallel?: number
  delay?: number
  yes?: boolean
  wait?: boolean
}

/** Adds the options of all actions. */
export const withPowerOptions = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'reason; recorded in the audit log')
    .option('-y, --yes', YES_HELP)
    .option('--no-wait', 'print the ID of the power run instead of its results')
    .withOutput()

/**
 * Shows what the action would do, asks, starts it, and prints the result of each node.
 * @param what verb in the imperative, such as `Power on`
 */
export async function runPowerAction(what: string, action: PowerRequest, selector: string, options: PowerOptions): Promise<void> {
  const nodes = await selectNodes(selector)
  const { force, parallel, delay, reason } = options
  const input = {
    ...action,
    nodeIds: nodes.map(({ id }) => id),
    ...omitUndefined({ force, parallelism: parallel, delaySeconds: delay }),
  }
  const preview = orThrow((await request(PREVIEW, { input })).previewPowerRun)
  const targets = preview.targets.edges.map(({ node }) => node)
  const blocked = targets.flatMap(({ blockedReason }) => blockedReason ?? [])
  if (blocked.length > 0) {
    const more = preview.blockedCount - blocked.length
    throw new CliError([...blocked, ...(more > 0 ? [`And ${count(more, 'more node')}.`] : [])].join('\n'), EXIT.rejected)
  }
  if (!options.yes) {
    for (const { name, powerState } of targets) process.stderr.write(`${name}: ${powerState}\n`)
    const names = nameList(targets.map(({ name }) => name))
    const pace = `at most ${preview.parallelism} at once, ${preview.delaySeconds} s apart`
    await confirmAction(
      `${what} ${count(preview.targetCount, 'node')}: ${names}${preview.targetCount > targets.length ? ', …' : ''}; ${pace}.`,
    )
  }
  const { id } = orThrow((await request(START, { input: { ...input, reason } })).startPowerRun).powerRun
  if (options.wait === false) return void process.stdout.write(`${id}\n`)
  await printPowerRun(id, options)
}

/** Waits for the end of a power run, and prints the result of each node. */
async function printPowerRun(id: string, output: Output): Promise<void> {
  let status: string | undefined
  for await (const { powerRunUpdated: update } of subscribe(UPDATES, () => ({ id }))) {
    status = update.status
    if (update.finishedAt) break
  }
  const items = await fetchAll(async (page) => (await request(ITEMS, { id, ...page })).powerRun?.items)
  printRows(
    items.map((item) => ({ ...item, id: item.nodeName, name: item.nodeName })),
    [
      { title: 'NODE', value: (i) => i.nodeName },
      { title: 'RESULT', value: (i) => i.result },
      { title: 'STATE', value: (i) => i.after },
      { title: 'BEFORE', value: (i) => i.before, wide: true },
      { title: 'MESSAGE', value: (i) => i.message },
    ],
    output,
    'No nodes.',
  )
  if (status === 'PARTIAL' || status === 'FAILED' || status === 'CANCELED') process.exitCode = EXIT[status]
}
