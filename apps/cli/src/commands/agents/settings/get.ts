import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printObject } from '../../../output.ts'

type Settings = {
  heartbeatIntervalSeconds: number
  staleAfterSeconds: number
  offlineAfterSeconds: number
  massOutagePercent: number
  massOutageMinNodes: number
  deregisterAfterDays: number | null
}

export const agentSettingsGet = () =>
  new Command('get')
    .description('show the heartbeat interval and timeouts')
    .withOutput()
    .action(async (output: Output) => {
      const { agentSettings } = await request(
        graphql(`query AgentSettings {
          agentSettings { heartbeatIntervalSeconds staleAfterSeconds offlineAfterSeconds massOutagePercent massOutageMinNodes deregisterAfterDays }
        }`),
        {},
      )
      printSettings(agentSettings, output)
    })

export function printSettings(settings: Settings, output: Output): void {
  const {
    heartbeatIntervalSeconds,
    staleAfterSeconds,
    offlineAfterSeconds,
    massOutagePercent,
    massOutageMinNodes,
    deregisterAfterDays,
  } = settings
  printObject(
    {
      heartbeatIntervalSeconds,
      staleAfterSeconds,
      offlineAfterSeconds,
      massOutagePercent,
      massOutageMinNodes,
      deregisterAfterDays,
    },
    output,
    [
      ['heartbeat', `every ${heartbeatIntervalSeconds} s`],
      ['stale', `after ${staleAfterSeconds} s`],
      ['offline', `after ${offlineAfterSeconds} s`],
      ['mass outage', `more than ${massOutagePercent} % and at least ${massOutageMinNodes} nodes`],
      ['deregistered', deregisterAfterDays === null ? 'never automatically' : `after ${deregisterAfterDays} days offline`],
    ],
  )
}
