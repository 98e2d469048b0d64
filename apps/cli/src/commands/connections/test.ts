import { request, subscribeToObjects } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { isTable, printObject, shellQuote } from '../../output.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'

const UPDATES = graphql(`subscription NodeTestUpdates($ids: [ID!]!) {
  connectionTestUpdated(ids: $ids) {
    id isOk error finishedAt node { name }
    stages { stage hop state durationMs detail hint offeredKey { objectId fingerprint isChanged } }
  }
}`)
type Test = ResultOf<typeof UPDATES>['connectionTestUpdated']

export const nodeTest = () =>
  new Command('test')
    .description('test the connection to nodes, stage by stage')
    .argument('<selector>', SELECTOR_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const nodes = await selectNodes(selector)
      const { testConnections } = await request(
        graphql(`mutation NodeTest($ids: [ID!]!) {
          testConnections(input: { nodeIds: $ids }) { __typename ... on TestConnectionsPayload { connectionTests { id } } ... on Error { code message } }
        }`),
        { ids: nodes.map((n) => n.id) },
      )
      await followTests(
        orThrow(testConnections).connectionTests.map((t) => t.id),
        output,
      )
    })

/** Prints each test when it ends; the exit code is 1 when one fails. */
export async function followTests(ids: string[], output: Output): Promise<void> {
  const done = new Map<string, Test>()
  for await (const { connectionTestUpdated: test } of subscribeToObjects(UPDATES, ids)) {
    if (!test.finishedAt || done.has(test.id)) continue
    done.set(test.id, test)
    if (isTable(output)) process.stdout.write(`${describeTest(test)}\n`)
  }
  if (!isTable(output)) printObject([...done.values()], output)
  if (done.size < ids.length || [...done.values()].some((t) => !t.isOk)) process.exitCode = EXIT.failed
}

/** Text of a test: one line for success, otherwise all stages up to the failed one with the next step. */
export function describeTest(test: Test): string {
  const hasFailedStage = test.stages.some((s) => s.state === 'FAILED')
  // The failed stage repeats the error.
  const lines = [`${test.node.name}: ${test.isOk ? 'ok' : 'FAILED'}${test.error && !hasFailedStage ? `: ${test.error}` : ''}`]
  for (const s of test.stages) {
    if (test.isOk && s.state !== 'FAILED') continue
    const name = s.stage.toLowerCase().replaceAll('_', ' ')
    lines.push(
      `  ${s.state.padEnd(7)}  ${s.hop ? `${s.hop}: ` : ''}${name}, ${s.durationMs} ms${s.detail ? `: ${s.detail}` : ''}`,
    )
    if (s.hint) lines.push(`           ${s.hint}`)
    if (s.offeredKey)
      lines.push(`  muster node approve ${s.hop ? `--bastion ${shellQuote(s.hop)}` : test.node.name} ${s.offeredKey.fingerprint}`)
  }
  return lines.join('\n')
}
