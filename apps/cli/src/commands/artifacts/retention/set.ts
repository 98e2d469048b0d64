import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integerOrNone, nullIfNone, omitUndefined } from '../../../options.ts'
import { printRetention } from './get.ts'

type Options = Output & { logs?: number | 'none'; artifacts?: number | 'none'; runs?: number | 'none'; audit?: number | 'none' }

export const retentionSet = () =>
  new Command('set')
    .description('set retention in days; older data is deleted permanently within minutes')
    .option('--logs <days>', 'logs; none: forever', integerOrNone)
    .option('--artifacts <days>', 'artifacts; none: forever', integerOrNone)
    .option('--runs <days>', 'runs with their logs and artifacts; none: forever', integerOrNone)
    .option('--audit <days>', 'entries of the audit log, at least 30; none: forever', integerOrNone)
    .withOutput()
    .action(async ({ logs, artifacts, runs, audit, ...output }: Options) => {
      if (logs === undefined && artifacts === undefined && runs === undefined && audit === undefined)
        throw new CliError('Specify --logs, --artifacts, --runs or --audit.', EXIT.usage)
      const { setRetention } = await request(
        graphql(`mutation RetentionSet($logDays: Int, $artifactDays: Int, $runDays: Int, $auditDays: Int) {
          setRetention(input: { logDays: $logDays, artifactDays: $artifactDays, runDays: $runDays, auditDays: $auditDays }) {
            __typename ... on SetRetentionPayload { retention { logDays artifactDays runDays auditDays } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        omitUndefined({
          logDays: nullIfNone(logs),
          artifactDays: nullIfNone(artifacts),
          runDays: nullIfNone(runs),
          auditDays: nullIfNone(audit),
        }),
      )
      printRetention(orThrow(setRetention).retention, output)
    })
