import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printObject } from '../../output.ts'

type Settings = {
  heartbeatS: number
  staleAfterS: number
  offlineAfterS: number
  massSilencePercent: number
  massSilenceNodes: number
  deregisterAfterDays: number | null
}

export const agentSettingsGet = () =>
  new Command('get')
    .description('how often agents beat, and how their silence is judged')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const { agentSettings } = await request(
        graphql(`query AgentSettings {
          agentSettings { heartbeatS staleAfterS offlineAfterS massSilencePercent massSilenceNodes deregisterAfterDays }
        }`),
        {},
      )
      printSettings(agentSettings, output)
    })

export function printSettings(settings: Settings, output: Format): void {
  const { heartbeatS, staleAfterS, offlineAfterS, massSilencePercent, massSilenceNodes, deregisterAfterDays } = settings
  printObject({ heartbeatS, staleAfterS, offlineAfterS, massSilencePercent, massSilenceNodes, deregisterAfterDays }, output, [
    ['heartbeat', `every ${heartbeatS} s`],
    ['stale', `after ${staleAfterS} s`],
    ['offline', `after ${offlineAfterS} s`],
    ['mass silence', `more than ${massSilencePercent} % and at least ${massSilenceNodes} nodes`],
    ['deregistered', deregisterAfterDays === null ? 'never by itself' : `after ${deregisterAfterDays} days offline`],
  ])
}
