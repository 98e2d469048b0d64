import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { RUN_HELP, runId } from '../../run-id.ts'
import { selectNodes } from '../../selector.ts'
import { followStarted } from './follow-started.ts'

type Options = {
  failed?: true
  unreachable?: true
  notRun?: true
  offline?: true
  nodes?: string
  reason?: string
  includeOffline?: true
  idempotencyKey?: string
  detach?: true
}

export const retry = () =>
  new Command('retry')
    .argument('<run>', RUN_HELP)
    .option('--failed', 'only failed and interrupted hosts')
    .option('--unreachable', 'only unreachable hosts')
    .option('--not-run', 'only hosts that did not run; can be combined with --failed and --unreachable')
    .option('--offline', 'only hosts that the run skipped; can be combined with --failed, --unreachable and --not-run')
    .option('--nodes <selector>', 'only these hosts of the run')
    .option('--reason <text>', 'reason, kept with the run')
    .option('--include-offline', 'include nodes with an OFFLINE agent, which runs otherwise skip')
    .option('--idempotency-key <key>', 'a repeated key returns the same run instead of starting another')
    .option('-d, --detach', 'print the run ID and do not follow the log')
    .action(async (idText: string, { nodes, reason, includeOffline, idempotencyKey, detach, ...only }: Options) => {
      const flags = { FAILED: only.failed, UNREACHABLE: only.unreachable, NOT_RUN: only.notRun, OFFLINE: only.offline }
      const hosts = (['FAILED', 'UNREACHABLE', 'NOT_RUN', 'OFFLINE'] as const).filter((each) => flags[each])
      if (nodes && hosts.length > 0)
        throw new CliError('--nodes cannot be combined with --failed, --unreachable, --not-run or --offline.', EXIT.usage)
      const { retryJobRun } = await request(
        graphql(`mutation Retry($input: RetryJobRunInput!) {
          retryJobRun(input: $input) { __typename ... on RetryJobRunPayload { run { id number hostCounts { total } } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        {
          input: {
            id: await runId(idText),
            ...(hosts.length > 0 ? { hosts } : {}),
            ...(nodes ? { nodeIds: (await selectNodes(nodes)).map((node) => node.id) } : {}),
            ...(reason ? { reason } : {}),
            ...(includeOffline ? { includeOffline } : {}),
            ...(idempotencyKey ? { idempotencyKey } : {}),
          },
        },
      )
      await followStarted(orThrow(retryJobRun).run, detach)
    })
