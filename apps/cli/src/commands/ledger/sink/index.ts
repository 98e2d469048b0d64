import { commandGroup } from '../../../command.ts'
import { ledgerSinkGet } from './get.ts'
import { ledgerSinkRemove } from './remove.ts'
import { ledgerSinkSet } from './set.ts'

/** `muster ledger sink` without a subcommand shows it. */
export const ledgerSink = () =>
  commandGroup('sink', [ledgerSinkSet(), ledgerSinkRemove()])
    .description('show and change the chain that gets the entries')
    .addCommand(ledgerSinkGet(), { isDefault: true })
