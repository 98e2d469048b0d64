import { commandGroup } from '../../command.ts'
import { openchamiDiff, openchamiPush } from './check.ts'
import { openchamiTarget } from './target.ts'

export const openchami = () => commandGroup('openchami', [openchamiTarget(), openchamiDiff(), openchamiPush()])
