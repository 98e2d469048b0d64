import { commandGroup } from '../../command.ts'
import { artifactGet } from './get.ts'
import { artifactList } from './list.ts'

export const artifact = () => commandGroup('artifact', [artifactList(), artifactGet()])
