import { commandGroup } from '../../../command.ts'
import { auditSinkCreate } from './create.ts'
import { auditSinkDelete } from './delete.ts'
import { auditSinkList } from './list.ts'
import { auditSinkTest } from './test.ts'
import { auditSinkUpdate } from './update.ts'

export const auditSinkGroup = () =>
  commandGroup('sink', [auditSinkList(), auditSinkCreate(), auditSinkUpdate(), auditSinkTest(), auditSinkDelete()]).description(
    'deliver all audit entries to webhooks and syslog receivers',
  )
