import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { findTrigger } from './fields.ts'

const ROTATE = graphql(`mutation TriggerRotate($id: ID!) {
  rotateTriggerSecret(input: { id: $id }) { __typename ... on RotateTriggerSecretPayload { secret } ... on Error { code message } }
}`)
const DELETE = graphql(`mutation TriggerDelete($id: ID!) {
  deleteTrigger(input: { id: $id }) { __typename ... on DeleteTriggerPayload { deletedId } ... on Error { code message } }
}`)

export const triggerRotate = () =>
  new Command('rotate')
    .description('replace the secret, print the new one once and become the owner; the previous one is rejected from now on')
    .argument('<name>')
    .action(async (name: string) => {
      const { secret } = orThrow((await request(ROTATE, { id: await findTrigger(name) })).rotateTriggerSecret)
      process.stderr.write(`The secret of ${name} is shown only now:\n`)
      process.stdout.write(`${secret}\n`)
    })

export const triggerDelete = () =>
  new Command('delete')
    .description('delete a trigger with its secret and history; runs that it has started continue')
    .argument('<name>')
    .action(async (name: string) => {
      orThrow((await request(DELETE, { id: await findTrigger(name) })).deleteTrigger)
      process.stderr.write(`Deleted ${name}.\n`)
    })
