import { commandGroup } from '../../command.ts'
import { bmcDiscover } from './bmc-discover.ts'
import { bmcRemove } from './bmc-remove.ts'
import { bmcSet } from './bmc-set.ts'

export const bmc = () => commandGroup('bmc', [bmcSet(), bmcRemove(), bmcDiscover()])
