import { commandGroup } from '../../../command.ts'
import { agentTokenCreate } from './create.ts'
import { agentTokenList } from './list.ts'
import { agentTokenRevoke } from './revoke.ts'

/** `muster agent token NODE` creates one. */
export const agentToken = () =>
  commandGroup('token', [agentTokenList(), agentTokenRevoke()])
    .description('create, list and revoke the enrollment tokens of agents')
    .addCommand(agentTokenCreate(), { isDefault: true })
