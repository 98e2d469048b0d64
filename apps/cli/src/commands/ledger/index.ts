import { commandGroup } from '../../command.ts'
import { ledgerExport } from './export.ts'
import { ledgerGet } from './get.ts'
import { ledgerList } from './list.ts'
import { ledgerSet } from './set.ts'
import { ledgerSink } from './sink/index.ts'
import { ledgerVerify } from './verify.ts'

export const ledger = () =>
  commandGroup('ledger', [ledgerGet(), ledgerList(), ledgerSet(), ledgerExport(), ledgerVerify(), ledgerSink()])
