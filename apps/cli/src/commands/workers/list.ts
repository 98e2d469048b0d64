import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'

export const workerList = () =>
  new Command('list')
    .description('list the workers that execute runs')
    .withOutput()
    .action(async (output: Output) => {
      const { workers } = await request(
        graphql(`query Workers {
          workers { id name host pid version ansibleVersion isolation isolationWeakness concurrency running startedAt lastSeenAt isGone drainingAt drainedByName }
        }`),
        {},
      )
      printRows(
        workers,
        [
          { title: 'WORKER', value: (w) => w.name },
          {
            title: 'STATE',
            value: (w) => (w.isGone ? `gone (${ago(w.lastSeenAt)})` : w.drainingAt ? drained(w.running) : 'ready'),
          },
          { title: 'RUNS', value: (w) => `${w.running}/${w.concurrency}` },
          { title: 'STARTED', value: (w) => ago(w.startedAt) },
          { title: 'ANSIBLE', value: (w) => w.ansibleVersion, wide: true },
          { title: 'ISOLATION', value: (w) => w.isolation.toLowerCase(), wide: true },
          { title: 'VERSION', value: (w) => w.version, wide: true },
          { title: 'DRAINED BY', value: (w) => w.drainedByName, wide: true },
        ],
        output,
        'No workers. Runs stay pending until one starts.',
      )
    })

const drained = (running: number) => (running > 0 ? 'draining' : 'drained')
