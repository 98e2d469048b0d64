import { commandGroup } from '../../../command.ts'
import { ruleList } from './read.ts'
import { ruleCreate, ruleDelete, ruleUpdate } from './write.ts'

export const rule = () =>
  commandGroup('rule', [ruleList(), ruleCreate(), ruleUpdate(), ruleDelete()]).description(
    'manage rules that accept unknown machines as nodes',
  )
