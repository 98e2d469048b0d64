import { commandGroup } from '../../command.ts'
import { workerDrain } from './drain.ts'
import { workerList } from './list.ts'
import { workerUndrain } from './undrain.ts'

export const worker = () => commandGroup('worker', [workerList(), workerDrain(), workerUndrain()])
