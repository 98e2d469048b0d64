import { commandGroup } from '../../command.ts'
import { auditExport } from './export.ts'
import { auditList } from './list.ts'
import { auditSinkGroup } from './sinks/index.ts'
import { auditVerify } from './verify.ts'

export const audit = () => commandGroup('audit', [auditList(), auditVerify(), auditExport(), auditSinkGroup()])
