import { Command } from 'commander'
import { print } from 'graphql'
import { request, subscriptions } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'
import { type Format, outputOption, printObject } from '../../output.ts'

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
      const tests = await finished(
        orThrow(testConnections).tests.map((t) => t.id),
        output,
      )
      if (output !== 'table') printObject(tests, output)
      if (tests.some((t) => !t.isOk)) process.exitCode = EXIT.failed
    })

async function finished(ids: string[], output: Format): Promise<Test[]> {
  const client = subscriptions()
  const last = new Map<string, Test>()
  try {
    for await (const result of client.iterate<ResultOf<typeof UPDATES>>({ query: print(UPDATES), variables: { ids } })) {
      if (result.errors) throw new CliError(result.errors.map((e) => e.message).join('\n'))
      const test = result.data?.connectionTestUpdated
      if (!test) continue
      const known = last.get(test.id)
      last.set(test.id, test)
      if (test.finishedAt && !known?.finishedAt && output === 'table') process.stdout.write(`${describe(test)}\n`)
    }
  } finally {
    await client.dispose()
  }
  return ids.flatMap((id) => last.get(id) ?? [])
}

function describe(test: Test): string {
  const lines = [`${test.node.name}: ${test.isOk ? 'ok' : 'FAILED'}${test.error ? `, ${test.error}` : ''}`]
  for (const s of test.stages) {
    if (test.isOk && s.state === 'OK') continue
    lines.push(
      `  ${s.state.padEnd(7)} ${s.stage.toLowerCase()}${s.hop ? ` at ${s.hop}` : ''} ${s.durationMs} ms${s.detail ? `  ${s.detail}` : ''}`,
    )
    if (s.hint) lines.push(`          ${s.hint}`)
    if (s.offeredKey)
      lines.push(
        `          approve with: muster node approve ${s.hop ? `--bastion ${s.hop}` : test.node.name} ${s.offeredKey.fingerprint}`,
      )
  }
  return lines.join('\n')
}
