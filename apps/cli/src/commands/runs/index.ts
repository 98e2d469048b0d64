import { commandGroup } from '../../command.ts'
import { runsCompare } from './compare.ts'
import { runsFailures } from './failures.ts'
import { runsGet } from './get.ts'
import { runsList } from './list.ts'
import { runsMatrix } from './matrix.ts'

/** `muster runs` without a subcommand lists them. */
export const runs = () =>
  commandGroup('runs', [runsGet(), runsMatrix(), runsCompare(), runsFailures()]).addCommand(runsList().alias('ls'), {
    isDefault: true,
  })
