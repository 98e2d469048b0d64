import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer, integerOrNone, nullIfNone, omitUndefined } from '../../../options.ts'
import { printSettings } from './get.ts'

type Options = Output & {
  heartbeat?: number
  stale?: number
  offline?: number
  massOutagePercent?: number
  massOutageMinNodes?: number
  deregisterAfterDays?: number | 'none'
}

export const agentSettingsSet = () =>
  new Command('set')
    .description('change the heartbeat interval and timeouts')
    .option('--heartbeat <seconds>', 'heartbeat interval; agents apply it after their next heartbeat', integer)
    .option('--stale <seconds>', 'seconds without a heartbeat until STALE; at least twice the interval', integer)
    .option('--offline <seconds>', 'seconds without a heartbeat until OFFLINE', integer)
    .option(
      '--mass-outage-percent <share>',
      'percentage of nodes without heartbeats; above it, a mass outage is assumed and OFFLINE is suppressed',
      integer,
    )
    .option('--mass-outage-min-nodes <n>', 'minimum number of nodes without heartbeats for a mass outage', integer)
    .option(
      '--deregister-after-days <days>',
      'days OFFLINE until an agent is deregistered automatically; none: never',
      integerOrNone,
    )
    .withOutput()
    .action(async ({ output, headers, heartbeat, stale, offline, deregisterAfterDays, ...rest }: Options) => {
      const input = omitUndefined({
        heartbeatIntervalSeconds: heartbeat,
        staleAfterSeconds: stale,
        offlineAfterSeconds: offline,
        ...rest,
        deregisterAfterDays: nullIfNone(deregisterAfterDays),
      })
      if (Object.keys(input).length === 0) throw new CliError('Specify at least one option; see --help.', EXIT.usage)
      const { updateAgentSettings } = await request(
        graphql(`mutation AgentSettingsSet($input: UpdateAgentSettingsInput!) {
          updateAgentSettings(input: $input) {
            __typename
            ... on UpdateAgentSettingsPayload { agentSettings { heartbeatIntervalSeconds staleAfterSeconds offlineAfterSeconds massOutagePercent massOutageMinNodes deregisterAfterDays } }
            ... on Error { code message }
            ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input },
      )
      printSettings(orThrow(updateAgentSettings).agentSettings, { output, headers })
    })
