import { commandGroup } from '../../../command.ts'
import { tokenCreate } from './create.ts'
import { tokenList } from './list.ts'
import { tokenRevoke } from './revoke.ts'

export const token = () => commandGroup('token', [tokenList(), tokenCreate(), tokenRevoke()])
