import { commandGroup } from '../../../command.ts'
import { retentionGet } from './get.ts'
import { retentionSet } from './set.ts'

export const retention = () => commandGroup('retention', [retentionGet(), retentionSet()])
