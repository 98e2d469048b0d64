import { commandGroup } from '../../../command.ts'
import { agentSettingsGet } from './get.ts'
import { agentSettingsSet } from './set.ts'

/** `muster agent settings` without a subcommand shows them. */
export const agentSettings = () =>
  commandGroup('settings', [agentSettingsSet()])
    .description('show and change the heartbeat interval and timeouts')
    .addCommand(agentSettingsGet(), { isDefault: true })
