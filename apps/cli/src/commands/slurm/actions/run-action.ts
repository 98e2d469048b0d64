import { request, subscribe } from '../../../client.ts'
import type { Command, Output } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql, type VariablesOf } from '../../../graphql.ts'
import { count, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { nameList } from '../../../selector.ts'
import { givenCluster, withCluster } from '../../clusters/find-cluster.ts'

const PREVIEW = graphql(`query SlurmActionPreview($input: StartSlurmActionInput!) {
  previewSlurmAction(input: $input) {
    __typename
    ... on SlurmActionPreview {
      fingerprint targetCount runningJobCount denied { target reason }
      targets(first: 50) { edges { node { target state isReached } } }
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const START = graphql(`mutation SlurmActionStart($input: StartSlurmActionInput!) {
  startSlurmAction(input: $input) {
    __typename
    ... on StartSlurmActionPayload { slurmAction { id } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const UPDATES = graphql(`subscription SlurmActionUpdates($id: ID!) {
  slurmActionUpdated(id: $id) { status error finishedAt targetCount results { result count } }
}`)
const ITEMS = graphql(`query SlurmActionItems($id: ID!, $first: Int, $after: String) {
  slurmAction(id: $id) {
    items(first: $first, after: $after) {
      edges { node { target result before after message } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)

type Input = VariablesOf<typeof START>['input']
export type ActionInput = Omit<Input, 'clusterId' | 'reason' | 'fingerprint' | 'idempotencyKey'>
export type ActionOptions = Output & { cluster?: string; reason: string; yes?: boolean }

/** Adds the options of all actions. */
export const withAction = (command: Command): Command =>
  withCluster(command)
    .requiredOption('--reason <text>', 'reason; recorded in the audit log, and by Slurm for drain, down and reboot')
    .option('-y, --yes', YES_HELP)
    .withOutput()

/**
 * Shows what the action would do, asks, starts it, and prints the result of each target.
 * @param what verb and object in the imperative, such as `Drain`
 */
export async function runAction(what: string, action: ActionInput, options: ActionOptions): Promise<void> {
  const input = { ...action, clusterId: await givenCluster(options), reason: options.reason }
  const preview = orThrow((await request(PREVIEW, { input })).previewSlurmAction)
  for (const { target, reason } of preview.denied) process.stderr.write(`left out: ${target}: ${reason}\n`)
  if (!options.yes) {
    const targets = preview.targets.edges.map(({ node }) => node)
    for (const { target, state, isReached } of targets)
      process.stderr.write(`${target}: ${state ?? 'unknown to the cluster'}${isReached ? ' (nothing to change)' : ''}\n`)
    const jobs = preview.runningJobCount > 0 ? `; ${count(preview.runningJobCount, 'job')} run there` : ''
    await confirmAction(
      `${what} ${count(preview.targetCount, 'target')}: ${nameList(targets.map(({ target }) => target))}${preview.targetCount > targets.length ? ', …' : ''}${jobs}.`,
    )
  }
  const started = await request(START, { input: { ...input, fingerprint: preview.fingerprint } })
  const { id } = orThrow(started.startSlurmAction).slurmAction
  let last: { status: string; error: string | null } | undefined
  for await (const { slurmActionUpdated: update } of subscribe(UPDATES, () => ({ id }))) {
    last = update
    if (update.finishedAt) break
  }
  if (!last) throw new CliError('The action was deleted with its cluster.', EXIT.notFound)
  const items = await fetchAll(async (page) => (await request(ITEMS, { id, ...page })).slurmAction?.items)
  printRows(
    items.map((item) => ({ ...item, id: item.target, name: item.target })),
    [
      { title: 'TARGET', value: (i) => i.target },
      { title: 'RESULT', value: (i) => i.result },
      { title: 'STATE', value: (i) => i.after },
      { title: 'BEFORE', value: (i) => i.before, wide: true },
      { title: 'MESSAGE', value: (i) => i.message },
    ],
    options,
    'No targets.',
  )
  if (last.error) process.stderr.write(`${last.error}\n`)
  if (last.status === 'PARTIAL' || last.status === 'FAILED') process.exitCode = EXIT[last.status]
}
