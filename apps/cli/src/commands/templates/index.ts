import { commandGroup } from '../../command.ts'
import { templateArchive } from './archive.ts'
import { templateCreate } from './create.ts'
import { templateGet } from './get.ts'
import { templateHistory } from './history.ts'
import { templateList } from './list.ts'
import { templateRestore } from './restore.ts'
import { templateUpdate } from './update.ts'

/** `muster templates` without a subcommand lists them. */
export const template = () =>
  commandGroup('template', [
    templateGet(),
    templateCreate(),
    templateUpdate(),
    templateArchive(),
    templateRestore(),
    templateHistory(),
  ]).addCommand(templateList().alias('ls'), { isDefault: true })
