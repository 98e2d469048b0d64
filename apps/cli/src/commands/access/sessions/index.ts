import { commandGroup } from '../../../command.ts'
import { sessionEnd } from './end.ts'
import { sessionList } from './list.ts'

export const session = () => commandGroup('session', [sessionList(), sessionEnd()])
