import { commandGroup } from '../../command.ts'
import { groupCreate } from './create.ts'
import { groupDelete } from './delete.ts'
import { groupGet } from './get.ts'
import { groupList } from './list.ts'
import { groupAddNodes, groupRemoveNodes } from './set-nodes.ts'
import { groupUpdate } from './update.ts'

export const group = () =>
  commandGroup('group', [
    groupList(),
    groupGet(),
    groupCreate(),
    groupUpdate(),
    groupAddNodes(),
    groupRemoveNodes(),
    groupDelete(),
  ])
