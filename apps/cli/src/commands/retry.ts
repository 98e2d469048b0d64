import { Command } from 'commander'
import { request } from '../client.ts'
import { CliError, EXIT, orThrow } from '../errors.ts'
import { graphql } from '../graphql.ts'
import { nodeIds, runId } from '../ids.ts'
import { followStarted } from '../started.ts'

type Options = {
  failed?: true
  unreachable?: true
  notRun?: true
  nodes?: string
  reason?: string
  idempotencyKey?: string
  detach?: true
}

export const retry = () =>
  new Command('retry')
    .description('run the same again on hosts that failed or were unreachable, and follow its log')
    .argument('<run>', 'id of the run, or `last`')
    .option('--failed', 'only on those that failed or were interrupted')
    .option('--unreachable', 'only on those that were unreachable')
    .option('--not-run', 'only on those that the run ended before; these three can be combined')
    .option('--nodes <hostlist>', 'on these of its hosts')
    .option('--reason <text>', 'why; kept with the run')
    .option('--idempotency-key <key>', 'the same key gives the same run, so that trying again is safe')
    .option('-d, --detach', 'print the run’s id and return at once')
    .action(async (idText: string, { failed, unreachable, notRun, nodes, reason, idempotencyKey, detach }: Options) => {
      const asked = { FAILED: failed, UNREACHABLE: unreachable, NOT_RUN: notRun }
      const which = (['FAILED', 'UNREACHABLE', 'NOT_RUN'] as const).filter((each) => asked[each])
      if (nodes && which.length > 0)
        throw new CliError('--nodes goes with none of --failed, --unreachable and --not-run.', EXIT.usage)
      const { retryJobRun } = await request(
        graphql(`mutation Retry($input: RetryJobRunInput!) {
          retryJobRun(input: $input) { __typename ... on JobRun { id hostsTotal } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        {
          input: {
            id: await runId(idText),
            ...(which.length > 0 ? { which } : {}),
            ...(nodes ? { nodeIds: (await nodeIds(nodes)).map((node) => node.id) } : {}),
            ...(reason ? { reason } : {}),
            ...(idempotencyKey ? { idempotencyKey } : {}),
          },
        },
      )
      await followStarted(orThrow(retryJobRun), detach)
    })
