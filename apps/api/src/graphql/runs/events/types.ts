import type { JobRunEvent as Event } from '@muster/core/runs'
import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { JobRunEventKind } from '../enums.ts'

export const JobRunEvent = builder.objectRef<Event>('JobRunEvent').implement({
  description: 'One event of the log of a run. Secrets known to Muster are masked.',
  fields: (t) => ({
    seq: t.expose('seq', { type: 'BigInt', description: 'Position in the log: 1, 2, 3, … without gaps.' }),
    kind: t.expose('kind', { type: JobRunEventKind, description: 'Kind of the event.' }),
    host: t.exposeString('host', {
      nullable: true,
      description: 'Name of the host; null for events that concern the whole run.',
    }),
    play: t.exposeString('play', { nullable: true, description: 'Name of the play; null outside a play.' }),
    task: t.exposeString('task', { nullable: true, description: 'Name of the task; null outside a task.' }),
    action: t.exposeString('action', { nullable: true, description: 'Module of the task; null outside a task.' }),
    isChanged: t.exposeBoolean('isChanged', {
      nullable: true,
      description: 'Whether the task changed something; null for events other than results.',
    }),
    durationMs: t.exposeInt('durationMs', {
      nullable: true,
      description: 'Duration of the task on the host in milliseconds; null for events other than results.',
    }),
    stdout: t.exposeString('stdout', {
      nullable: true,
      description: 'Output with ANSI colors. Lines are separated by `\\n`, without a trailing one. Null without output.',
    }),
    startLine: t.expose('startLine', {
      type: 'BigInt',
      description: 'Number of the first line of the output in the log, from 1.',
    }),
    lineCount: t.exposeInt('lineCount', { description: 'Number of lines of the output.' }),
    result: t.expose('result', {
      type: 'JSON',
      nullable: true,
      description:
        'Result of the module as returned by Ansible, at most 64 KiB. A truncated result contains `_muster_truncated`. Null for events other than results.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event occurred, by the clock of the worker.' }),
  }),
})

export const eventConnection = connectionTypes(JobRunEvent, 'JobRunEvent', 'events of a log')
