import { commandGroup } from '../../../command.ts'
import { roleList } from './list.ts'
import { rolePermissions } from './permissions.ts'

export const role = () => commandGroup('role', [roleList(), rolePermissions()])
