import { commandGroup } from '../../command.ts'
import { powerAction, powerBootOnce } from './actions.ts'
import { powerCancel } from './cancel.ts'
import { powerEvents } from './events.ts'
import { powerList } from './list.ts'
import { powerSensors } from './sensors.ts'
import { powerStatus } from './status.ts'

export const power = () =>
  commandGroup('power', [
    powerStatus(),
    powerAction('on', 'ON', 'Power on', 'power nodes on'),
    powerAction('off', 'OFF', 'Shut down', 'shut nodes down; the operating system stops first'),
    powerAction('force-off', 'FORCE_OFF', 'Power off without a shutdown', 'power nodes off without a shutdown'),
    powerAction('restart', 'RESTART', 'Restart', 'restart nodes; the operating system stops first'),
    powerAction('cycle', 'CYCLE', 'Cycle without a shutdown', 'power nodes off and on without a shutdown'),
    powerAction('nmi', 'NMI', 'Send an NMI to', 'send a non-maskable interrupt, with which a kernel can write a crash dump'),
    powerBootOnce(),
    powerSensors(),
    powerEvents(),
    powerList(),
    powerCancel(),
  ])
