import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { given, integerOrNone, nullIfNone } from '../../options.ts'
import { type Format, outputOption } from '../../output.ts'
import { printRetention } from './show.ts'

type Options = { output: Format; logs?: number | 'none'; artifacts?: number | 'none'; runs?: number | 'none' }

export const retentionSet = () =>
  new Command('set')
    .description('say for how many days they are kept; what is older goes within minutes, and does not come back')
    .option('--logs <days>', 'logs; none: for ever', integerOrNone)
    .option('--artifacts <days>', 'artifacts; none: for ever', integerOrNone)
    .option('--runs <days>', 'runs with all that they left; none: for ever', integerOrNone)
    .addOption(outputOption())
    .action(async ({ output, logs, artifacts, runs }: Options) => {
      if (logs === undefined && artifacts === undefined && runs === undefined)
        throw new CliError('Say what to change: --logs, --artifacts or --runs.', EXIT.usage)
      const { setRetention } = await request(
        graphql(`mutation RetentionSet($logDays: Int, $artifactDays: Int, $runDays: Int) {
          setRetention(logDays: $logDays, artifactDays: $artifactDays, runDays: $runDays) {
            __typename ... on Retention { logDays artifactDays runDays } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        given({ logDays: nullIfNone(logs), artifactDays: nullIfNone(artifacts), runDays: nullIfNone(runs) }),
      )
      printRetention(orThrow(setRetention), output)
    })
