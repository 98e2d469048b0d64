import { commandGroup } from '../../command.ts'
import { agentAllow } from './allow.ts'
import { agentApprove } from './approve.ts'
import { agentDeregister } from './deregister.ts'
import { agentDrain } from './drain.ts'
import { agentGet } from './get.ts'
import { agentHeartbeats } from './heartbeats.ts'
import { agentHistory } from './history.ts'
import { agentList } from './list.ts'
import { agentResetSequence } from './reset-sequence.ts'
import { agentResume } from './resume.ts'
import { agentRevoke } from './revoke.ts'
import { agentSettings } from './settings/index.ts'
import { agentToken } from './tokens/index.ts'

export const agent = () =>
  commandGroup('agent', [
    agentList(),
    agentGet(),
    agentHistory(),
    agentHeartbeats(),
    agentToken(),
    agentAllow(),
    agentApprove(),
    agentRevoke(),
    agentDrain(),
    agentResume(),
    agentResetSequence(),
    agentDeregister(),
    agentSettings(),
  ])
