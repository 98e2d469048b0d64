import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { given, integer, integerOrNone, nullIfNone } from '../../options.ts'
import { type Format, outputOption } from '../../output.ts'
import { printSettings } from './get.ts'

type Options = {
  output: Format
  heartbeat?: number
  stale?: number
  offline?: number
  massSilencePercent?: number
  massSilenceNodes?: number
  deregisterAfterDays?: number | 'none'
}

export const agentSettingsSet = () =>
  new Command('set')
    .description('change what is given of how often agents beat, and of how their silence is judged')
    .option('--heartbeat <seconds>', 'between heartbeats; agents are told with their next', integer)
    .option('--stale <seconds>', 'of silence until STALE, at least twice those between heartbeats', integer)
    .option('--offline <seconds>', 'of silence until OFFLINE', integer)
    .option('--mass-silence-percent <share>', 'more than this share silent at once is taken for a fault of ours', integer)
    .option('--mass-silence-nodes <n>', 'and at least so many nodes', integer)
    .option('--deregister-after-days <days>', 'OFFLINE until deregistered by itself; none: never', integerOrNone)
    .addOption(outputOption())
    .action(async ({ output, heartbeat, stale, offline, deregisterAfterDays, ...rest }: Options) => {
      const input = given({
        heartbeatS: heartbeat,
        staleAfterS: stale,
        offlineAfterS: offline,
        ...rest,
        deregisterAfterDays: nullIfNone(deregisterAfterDays),
      })
      if (Object.keys(input).length === 0) throw new CliError('Nothing is to be changed; see --help for what can be.', EXIT.usage)
      const { updateAgentSettings } = await request(
        graphql(`mutation AgentSettingsSet($input: UpdateAgentSettingsInput!) {
          updateAgentSettings(input: $input) {
            __typename
            ... on AgentSettings { heartbeatS staleAfterS offlineAfterS massSilencePercent massSilenceNodes deregisterAfterDays }
            ... on Error { code message }
            ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input },
      )
      printSettings(orThrow(updateAgentSettings), output)
    })
