import { commandGroup } from '../../../command.ts'
import { ruleList } from './read.ts'
import { ruleCreate, ruleDelete, ruleUpdate } from './write.ts'

export const rule = () =>
  commandGroup('rule', [ruleList(), ruleCreate(), ruleUpdate(), ruleDelete()]).description(
    'accept unknown machines that match as nodes',
  )
