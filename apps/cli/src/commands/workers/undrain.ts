import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { workerId } from '../../lookup.ts'

export const workerUndrain = () =>
  new Command('undrain')
    .description('end the drain of a worker: it starts runs again')
    .argument('<worker>', 'name of the worker')
    .action(async (name: string) => {
      const { undrainWorker } = await request(
        graphql(`mutation WorkerUndrain($id: ID!) {
          undrainWorker(input: { id: $id }) { __typename ... on UndrainWorkerPayload { worker { name } } ... on Error { code message } }
        }`),
        { id: await workerId(name) },
      )
      process.stderr.write(`${orThrow(undrainWorker).worker.name} starts runs again.\n`)
    })
