import { commandGroup } from '../../command.ts'
import { triggerCreate } from './create.ts'
import { triggerHistory, triggerList } from './list.ts'
import { triggerDelete, triggerRotate } from './secret.ts'
import { triggerSend } from './send.ts'
import { triggerDisable, triggerEnable, triggerUpdate } from './update.ts'

export const trigger = () =>
  commandGroup('trigger', [
    triggerList(),
    triggerCreate(),
    triggerUpdate(),
    triggerEnable(),
    triggerDisable(),
    triggerRotate(),
    triggerSend(),
    triggerHistory(),
    triggerDelete(),
  ])
