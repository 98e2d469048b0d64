import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { oneOf } from '../../options.ts'

export const varsMerge = () =>
  new Command('merge')
    .description('show or set how dictionaries of several layers combine: replace or deep merge')
    .argument('[how]', 'replace or deep (default: show the setting)', oneOf('REPLACE', 'DEEP'))
    .action(async (how?: 'REPLACE' | 'DEEP') => {
      if (how) {
        const { setVarMerge } = await request(
          graphql(`mutation VarsMerge($merge: VarMerge!) {
            setVarMerge(input: { merge: $merge }) { __typename ... on SetVarMergePayload { varSettings { merge } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
          }`),
          { merge: how },
        )
        orThrow(setVarMerge)
      }
      const { varSettings } = await request(graphql(`query VarSettings { varSettings { merge } }`), {})
      process.stdout.write(`${varSettings.merge.toLowerCase()}\n`)
    })
