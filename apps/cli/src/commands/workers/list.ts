import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'

const WORKERS = graphql(`query Workers($first: Int, $after: String) {
  workers(first: $first, after: $after) {
    edges { node {
      id name host pid version ansibleVersion isolation isolationWeakness concurrency runningCount startedAt lastSeenAt isGone
      drainedAt drainedBy { name }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const workerList = () =>
  new Command('list')
    .description('list the workers that execute runs')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await fetchAll(async (page) => (await request(WORKERS, page)).workers),
        [
          { title: 'WORKER', value: (w) => w.name },
          {
            title: 'STATE',
            value: (w) => (w.isGone ? `gone (${ago(w.lastSeenAt)})` : w.drainedAt ? drained(w.runningCount) : 'ready'),
          },
          { title: 'RUNS', value: (w) => `${w.runningCount}/${w.concurrency}` },
          { title: 'STARTED', value: (w) => ago(w.startedAt) },
          { title: 'ANSIBLE', value: (w) => w.ansibleVersion, wide: true },
          { title: 'ISOLATION', value: (w) => w.isolation.toLowerCase(), wide: true },
          { title: 'VERSION', value: (w) => w.version, wide: true },
          { title: 'DRAINED BY', value: (w) => w.drainedBy?.name, wide: true },
        ],
        output,
        'No workers. Runs stay pending until one starts.',
      )
    })

const drained = (running: number) => (running > 0 ? 'draining' : 'drained')
