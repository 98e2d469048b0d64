import { commandGroup } from '../../command.ts'
import { varsDiff } from './diff.ts'
import { varsEdit } from './edit.ts'
import { varsExplain } from './explain.ts'
import { varsGet } from './get.ts'
import { varsHistory } from './history.ts'
import { varsImpact } from './impact.ts'
import { varsMerge } from './merge.ts'
import { varsRestore } from './restore.ts'
import { varsSecret } from './secret.ts'
import { varsSet } from './set.ts'

export const vars = () =>
  commandGroup('vars', [
    varsGet(),
    varsSet(),
    varsEdit(),
    varsExplain(),
    varsDiff(),
    varsImpact(),
    varsHistory(),
    varsRestore(),
    varsSecret(),
    varsMerge(),
  ])
