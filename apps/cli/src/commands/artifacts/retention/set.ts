import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integerOrNone, nullIfNone, omitUndefined } from '../../../options.ts'
import { printRetention } from './get.ts'

type Options = Output & { logs?: number | 'none'; artifacts?: number | 'none'; runs?: number | 'none' }

export const retentionSet = () =>
  new Command('set')
    .description('set retention in days; older data is deleted permanently within minutes')
    .option('--logs <days>', 'logs; none: forever', integerOrNone)
    .option('--artifacts <days>', 'artifacts; none: forever', integerOrNone)
    .option('--runs <days>', 'runs with their logs and artifacts; none: forever', integerOrNone)
    .withOutput()
    .action(async ({ logs, artifacts, runs, ...output }: Options) => {
      if (logs === undefined && artifacts === undefined && runs === undefined)
        throw new CliError('Specify --logs, --artifacts or --runs.', EXIT.usage)
      const { setRetention } = await request(
        graphql(`mutation RetentionSet($logDays: Int, $artifactDays: Int, $runDays: Int) {
          setRetention(input: { logDays: $logDays, artifactDays: $artifactDays, runDays: $runDays }) {
            __typename ... on SetRetentionPayload { retention { logDays artifactDays runDays } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        omitUndefined({ logDays: nullIfNone(logs), artifactDays: nullIfNone(artifacts), runDays: nullIfNone(runs) }),
      )
      printRetention(orThrow(setRetention).retention, output)
    })
