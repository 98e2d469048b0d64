import { request } from '../../../client.ts'
import { Command, commandGroup, type Output } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { ago, isTable, printObject, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { givenCluster, withCluster } from '../find-cluster.ts'
import { operationNodes, watchOperation } from './watch.ts'

const LIST = graphql(`query OperationList($id: ID!, $first: Int, $after: String) {
  slurmCluster(id: $id) {
    operations(first: $first, after: $after) {
      edges { node { id kind status reason nodeCount problemCount createdAt finishedAt createdBy { name } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)
const GET = graphql(`query OperationGet($id: ID!) {
  slurmOperation(id: $id) {
    id kind status reason error nodeCount problemCount configNumber createdAt startedAt finishedAt
    cluster { name } createdBy { name } steps { name state message jobRunId startedAt finishedAt }
  }
}`)

const operationList = () =>
  withCluster(new Command('list').description('list operations on a cluster, newest first'))
    .withOutput()
    .action(async (options: Output & { cluster?: string }) => {
      const id = await givenCluster(options)
      const rows = await fetchAll(async (page) => (await request(LIST, { id, ...page })).slurmCluster?.operations)
      printRows(
        rows.map((row) => ({ ...row, name: row.id })),
        [
          { title: 'ID', value: (o) => o.id },
          { title: 'KIND', value: (o) => o.kind },
          { title: 'STATUS', value: (o) => o.status },
          { title: 'NODES', value: (o) => o.nodeCount },
          { title: 'FAILED', value: (o) => o.problemCount },
          { title: 'STARTED', value: (o) => ago(o.createdAt) },
          { title: 'BY', value: (o) => o.createdBy.name },
          { title: 'REASON', value: (o) => o.reason },
        ],
        options,
        'No operations yet.',
      )
    })

const operationGet = () =>
  new Command('get')
    .description('show an operation with its steps and nodes')
    .argument('<id>')
    .option('-w, --watch', 'print progress until the operation ends')
    .withOutput()
    .action(async (id: string, options: Output & { watch?: boolean }) => {
      if (options.watch) return watchOperation(id)
      const { slurmOperation: operation } = await request(GET, { id })
      if (!operation) throw new CliError(`No operation ${id}. See \`muster cluster operation list\`.`, EXIT.notFound)
      const nodes = await operationNodes(id)
      if (!isTable(options)) return printObject({ ...operation, nodes }, options)
      printObject(operation, options, [
        ['cluster', operation.cluster.name],
        ['kind', operation.kind],
        ['status', operation.status],
        ...(operation.error ? ([['error', operation.error]] as [string, string][]) : []),
        ['reason', operation.reason],
        ['started by', operation.createdBy.name],
        ['steps', operation.steps.map(({ name, state }) => `${name} (${state})`).join(', ')],
      ])
      process.stdout.write('\n')
      printRows(
        nodes,
        [
          { title: 'NODE', value: (n) => n.name },
          { title: 'PHASE', value: (n) => n.phase },
          { title: 'FAILED', value: (n) => (n.isFailed ? 'yes' : '') },
          { title: 'MESSAGE', value: (n) => n.message },
          {
            title: 'CHECKS',
            value: (n) =>
              n.checks
                .filter(({ state }) => state !== 'OK')
                .map(({ name, message }) => `${name}: ${message}`)
                .join('; '),
          },
        ],
        options,
        'No nodes.',
      )
    })

const operationCancel = () =>
  new Command('cancel')
    .description('stop an operation after its current command, and undo it')
    .argument('<id>')
    .action(async (id: string) => {
      const { cancelSlurmOperation } = await request(
        graphql(`mutation OperationCancel($id: ID!) {
          cancelSlurmOperation(input: { id: $id }) {
            __typename ... on CancelSlurmOperationPayload { slurmOperation { id } } ... on Error { code message }
          }
        }`),
        { id },
      )
      orThrow(cancelSlurmOperation)
      process.stderr.write('Canceling. The operation ends when it is undone.\n')
    })

export const clusterOperation = () =>
  commandGroup('operation', [operationList(), operationGet(), operationCancel()]).description(
    'changes of a managed cluster or its configuration, with their progress',
  )
