import { commandGroup } from '../../../command.ts'
import { secretStoreAdd } from './add.ts'
import { secretStoreDelete } from './delete.ts'
import { secretStoreList } from './list.ts'
import { secretStoreUpdate } from './update.ts'

export const secretStore = () =>
  commandGroup('secret-store', [secretStoreList(), secretStoreAdd(), secretStoreUpdate(), secretStoreDelete()])
