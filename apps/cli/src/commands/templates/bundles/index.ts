import { commandGroup } from '../../../command.ts'
import { bundleDelete } from './delete.ts'
import { bundleList } from './list.ts'

export const bundle = () => commandGroup('bundle', [bundleList(), bundleDelete()])
