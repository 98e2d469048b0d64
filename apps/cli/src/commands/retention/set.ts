import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { type Format, outputOption } from '../../output.ts'
import { printRetention } from './show.ts'

const days = (text: string): number | null => (text === 'none' ? null : integer(text))
type Options = { output: Format; logs?: number | null; artifacts?: number | null; runs?: number | null }

export const retentionSet = () =>
  new Command('set')
    .description('say for how many days they are kept; what is older goes within minutes, and does not come back')
    .option('--logs <days>', 'logs; none: for ever', days)
    .option('--artifacts <days>', 'artifacts; none: for ever', days)
    .option('--runs <days>', 'runs with all that they left; none: for ever', days)
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
        // What is not given is left out, and so stays as it was.
        {
          ...(logs === undefined ? {} : { logDays: logs }),
          ...(artifacts === undefined ? {} : { artifactDays: artifacts }),
          ...(runs === undefined ? {} : { runDays: runs }),
        },
      )
      printRetention(orThrow(setRetention), output)
    })
