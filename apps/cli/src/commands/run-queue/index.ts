import { commandGroup } from '../../command.ts'
import { queueLimit } from './limit.ts'
import { queuePause } from './pause.ts'
import { queueResume } from './resume.ts'
import { queueStatus } from './status.ts'

export const queue = () => commandGroup('queue', [queueStatus(), queuePause(), queueResume(), queueLimit()])
