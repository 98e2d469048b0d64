import { commandGroup } from '../../command.ts'
import { scheduleCreate } from './create.ts'
import { scheduleHistory } from './history.ts'
import { scheduleList } from './list.ts'
import { scheduleNext } from './next.ts'
import { scheduleRun } from './run.ts'
import { scheduleDelete, scheduleDisable, scheduleEnable } from './switch.ts'
import { scheduleUpdate } from './update.ts'

export const schedule = () =>
  commandGroup('schedule', [
    scheduleList(),
    scheduleCreate(),
    scheduleUpdate(),
    scheduleRun(),
    scheduleEnable(),
    scheduleDisable(),
    scheduleNext(),
    scheduleHistory(),
    scheduleDelete(),
  ])
