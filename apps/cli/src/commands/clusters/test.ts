import { request, subscribe } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { count, isTable, printObject, shellQuote } from '../../output.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'
import { type SlurmrestdOptions, slurmrestdFields, withSlurmrestd } from './slurmrestd.ts'

const UPDATES = graphql(`subscription ClusterTestUpdates($id: ID!) {
  slurmClusterTestUpdated(id: $id) {
    id isOk error finishedAt node { name } queries { query command state exitCode durationMs detail hint }
    preview { clusterName version nodes cpus gpus jobs partitions controllers { role hostname isUp } }
  }
}`)
type Test = ResultOf<typeof UPDATES>['slurmClusterTestUpdated']
type Query = Test['queries'][number]

export const clusterTest = () =>
  withSlurmrestd(
    new Command('test')
      .description('test whether Muster can read a cluster from a node, command by command; changes nothing')
      .argument('<controller>', ONE_NODE_HELP),
  )
    .option('--programs <folder>', "folder of Slurm's programs on the node, such as /opt/slurm/bin")
    .withOutput()
    .action(async (controller: string, { programs, ...options }: Output & SlurmrestdOptions & { programs?: string }) => {
      const { id: nodeId } = await selectNode(controller)
      const { testSlurmController } = await request(
        graphql(`mutation ClusterTest($input: TestSlurmControllerInput!) {
          testSlurmController(input: $input) {
            __typename ... on TestSlurmControllerPayload { slurmClusterTest { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            nodeId,
            ...(programs === undefined ? {} : { programFolder: programs }),
            ...(await slurmrestdFields(options)),
          },
        },
      )
      const { id } = orThrow(testSlurmController).slurmClusterTest
      let test: Test | null = null
      let printed = 0
      for await (const { slurmClusterTestUpdated: now } of subscribe(UPDATES, () => ({ id }))) {
        test = now
        if (!isTable(options)) continue
        for (const query of now.queries.slice(printed)) process.stdout.write(`${describeQuery(query)}\n`)
        printed = now.queries.length
      }
      if (!isTable(options)) printObject(test, options)
      else if (test) printResult(test)
      if (!test?.isOk) process.exitCode = EXIT.failed
    })

/** One line, and the next step in another. */
export function describeQuery({ query, state, durationMs, detail, hint }: Query): string {
  const time = state === 'SKIPPED' ? '' : `, ${durationMs} ms`
  const line = `${state.padEnd(7)}  ${query}${time}${detail ? `: ${detail.replaceAll(/\s+/g, ' ')}` : ''}`
  return hint ? `${line}\n         ${hint}` : line
}

function printResult({ error, preview, node }: Test): void {
  if (error || !preview) return void process.stderr.write(`${error ?? 'The cluster could not be read.'}\n`)
  const { clusterName, version, nodes, cpus, gpus, jobs, partitions } = preview
  process.stdout.write(
    `${clusterName ?? 'A cluster without a name'}, Slurm ${version}: ${count(nodes, 'node')}, ${cpus} CPUs, ${gpus} GPUs, ${count(jobs, 'job')}, ${count(partitions.length, 'partition')}\n`,
  )
  process.stderr.write(`Add it: \`muster cluster add ${shellQuote(clusterName ?? 'NAME')} ${shellQuote(node.name)}\`.\n`)
}
