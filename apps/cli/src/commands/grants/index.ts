import { commandGroup } from '../../command.ts'
import { grantCreate } from './create.ts'
import { grantDelete } from './delete.ts'
import { grantList } from './list.ts'

export const grant = () => commandGroup('grant', [grantCreate(), grantList(), grantDelete()])
