import { commandGroup } from '../../command.ts'
import { alertAck } from './ack.ts'
import { alertList } from './list.ts'
import { alertResolve } from './resolve.ts'
import { alertSilence } from './silence.ts'
import { alertSilences } from './silences.ts'
import { alertUnsilence } from './unsilence.ts'

export const alert = () =>
  commandGroup('alert', [alertList(), alertAck(), alertResolve(), alertSilence(), alertSilences(), alertUnsilence()])
