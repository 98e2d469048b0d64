import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type TriggerOptions, triggerFields, withTriggerFields } from './fields.ts'

const CREATE = graphql(`mutation TriggerCreate($input: CreateTriggerInput!) {
  createTrigger(input: $input) { __typename ... on CreateTriggerPayload { secret trigger { name url } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
}`)

type Options = TriggerOptions & { github?: true; disabled?: true; idempotencyKey?: string }

export const triggerCreate = () =>
  withTriggerFields(
    new Command('create')
      .description('let signed requests run a template, with your permissions at that time; prints the secret once')
      .argument('<name>')
      .option('--github', 'accept X-Hub-Signature-256, as GitHub sends it')
      .option('--disabled', 'create it disabled')
      .option('--idempotency-key <key>', 'a repeated key is rejected instead of creating another trigger'),
  ).action(async (name: string, options: Options) => {
    const { template = '', limit = '', ...fields } = triggerFields(options)
    const { createTrigger } = await request(CREATE, {
      input: {
        name,
        template,
        limit,
        ...fields,
        signature: options.github ? 'GITHUB' : 'MUSTER',
        isEnabled: !options.disabled,
        ...(options.idempotencyKey ? { idempotencyKey: options.idempotencyKey } : {}),
      },
    })
    const { trigger, secret } = orThrow(createTrigger)
    process.stderr.write(`Created ${trigger.name}: ${trigger.url}\nThe secret is shown only now:\n`)
    process.stdout.write(`${secret}\n`)
  })
