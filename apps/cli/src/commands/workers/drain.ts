import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { workerId } from '../../lookup.ts'

export const workerDrain = () =>
  new Command('drain')
    .description('drain a worker: it finishes its runs and starts no more')
    .argument('<worker>', 'name of the worker')
    .action(async (name: string) => {
      const { drainWorker } = await request(
        graphql(`mutation WorkerDrain($id: ID!) {
          drainWorker(input: { id: $id }) { __typename ... on DrainWorkerPayload { worker { name } } ... on Error { code message } }
        }`),
        { id: await workerId(name) },
      )
      process.stderr.write(`Draining ${orThrow(drainWorker).worker.name}. \`muster worker list\` shows when it is drained.\n`)
    })
