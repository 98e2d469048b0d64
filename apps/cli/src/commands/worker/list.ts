import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'

export const workerList = () =>
  new Command('list')
    .description('the processes that execute runs')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const { workers } = await request(
        graphql(`query Workers {
          workers { id name host pid version ansibleVersion isolation isolationWeakness concurrency running startedAt touchedAt isGone drainingAt drainedByName }
        }`),
        {},
      )
      printRows(
        workers,
        [
          { title: 'WORKER', value: (w) => w.name },
          {
            title: 'STATE',
            value: (w) => (w.isGone ? `gone (${ago(w.touchedAt)})` : w.drainingAt ? drained(w.running) : 'takes work'),
          },
          { title: 'RUNS', value: (w) => `${w.running}/${w.concurrency}` },
          { title: 'STARTED', value: (w) => ago(w.startedAt) },
          { title: 'ANSIBLE', value: (w) => w.ansibleVersion, spare: true },
          { title: 'ISOLATION', value: (w) => w.isolation.toLowerCase(), spare: true },
          { title: 'VERSION', value: (w) => w.version, spare: true },
          { title: 'DRAINED BY', value: (w) => w.drainedByName, spare: true },
        ],
        output,
        'No worker is there. Start one, or runs will wait.',
      )
    })

const drained = (running: number) => (running > 0 ? 'draining' : 'drained')
