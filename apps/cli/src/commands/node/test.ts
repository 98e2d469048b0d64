import { Command } from 'commander'
import { request, subscribe } from '../../client.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'
import { type Format, outputOption, printObject, word } from '../../output.ts'

const UPDATES = graphql(`subscription NodeTestUpdates($ids: [ID!]!) {
  connectionTestUpdated(ids: $ids) {
    id isOk error finishedAt node { name }
    stages { stage hop state durationMs detail hint offeredKey { objectId fingerprint isChanged } }
  }
}`)
type Test = ResultOf<typeof UPDATES>['connectionTestUpdated']

export const nodeTest = () =>
  new Command('test')
    .description('test the way to nodes, stage by stage, and say where it ends')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .addOption(outputOption())
    .action(async (hostlist: string, { output }: { output: Format }) => {
      const nodes = await nodeIds(hostlist)
      const { testConnections } = await request(
        graphql(`mutation NodeTest($ids: [ID!]!) {
          testConnections(nodeIds: $ids) { __typename ... on StartedConnectionTests { tests { id } } ... on Error { code message } }
        }`),
        { ids: nodes.map((n) => n.id) },
      )
      await followTests(
        orThrow(testConnections).tests.map((t) => t.id),
        output,
      )
    })

/** Tell of each test as it ends; the exit code says whether all went well. */
export async function followTests(ids: string[], output: Format): Promise<void> {
  const done = new Map<string, Test>()
  for await (const { connectionTestUpdated: test } of subscribe(UPDATES, () => ({ ids }))) {
    if (!test.finishedAt || done.has(test.id)) continue
    done.set(test.id, test)
    if (output === 'table') process.stdout.write(`${describeTest(test)}\n`)
  }
  if (output !== 'table') printObject([...done.values()], output)
  if (done.size < ids.length || [...done.values()].some((t) => !t.isOk)) process.exitCode = EXIT.failed
}

/** A test for people: one line when all is well, else every stage up to the one where the way ends, and what to do. */
export function describeTest(test: Test): string {
  const bad = test.stages.some((s) => s.state === 'FAILED')
  // The failed stage says the same as the error, in its place.
  const lines = [`${test.node.name}: ${test.isOk ? 'ok' : 'FAILED'}${test.error && !bad ? `: ${test.error}` : ''}`]
  for (const s of test.stages) {
    if (test.isOk && s.state !== 'FAILED') continue
    const name = s.stage.toLowerCase().replaceAll('_', ' ')
    lines.push(
      `  ${s.state.padEnd(7)}  ${s.hop ? `${s.hop}: ` : ''}${name}, ${s.durationMs} ms${s.detail ? `: ${s.detail}` : ''}`,
    )
    if (s.hint) lines.push(`           ${s.hint}`)
    if (s.offeredKey)
      lines.push(`  muster node approve ${s.hop ? `--bastion ${word(s.hop)}` : test.node.name} ${s.offeredKey.fingerprint}`)
  }
  return lines.join('\n')
}
