import { commandGroup } from '../../../command.ts'
import { alertRouteAdd } from './add.ts'
import { alertRouteDelete } from './delete.ts'
import { alertRouteList } from './list.ts'
import { alertRouteTest } from './test.ts'
import { alertRouteUpdate } from './update.ts'

export const alertRoute = () =>
  commandGroup('alert-route', [alertRouteList(), alertRouteAdd(), alertRouteUpdate(), alertRouteTest(), alertRouteDelete()])
