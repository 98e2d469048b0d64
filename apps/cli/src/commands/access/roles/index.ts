import { commandGroup } from '../../../command.ts'
import { roleCreate, roleDelete, roleUpdate } from './change.ts'
import { roleList } from './list.ts'
import { rolePermissions } from './permissions.ts'

export const role = () => commandGroup('role', [roleList(), rolePermissions(), roleCreate(), roleUpdate(), roleDelete()])
