import { commandGroup } from '../../../command.ts'
import { unknownAccept } from './accept.ts'
import { unknownList } from './list.ts'
import { unknownReject } from './reject.ts'

export const unknown = () =>
  commandGroup('unknown', [unknownList(), unknownAccept(), unknownReject()]).description(
    'list, accept and reject machines that no node has',
  )
