import type { JobRunEvent as Event } from '@muster/core/runs'
import { builder } from '../../../builder.ts'

export const JobRunEvent = builder.objectRef<Event>('JobRunEvent').implement({
  description: "One entry of a run's log. Secrets that Muster knows are masked in it.",
  fields: (t) => ({
    seq: t.expose('seq', { type: 'BigInt', description: 'Its place in the log: 1, 2, 3, … without a gap.' }),
    kind: t.exposeString('kind', {
      description:
        'run_start, play_start, task_start, host_start, ok, failed, unreachable, skipped, item_ok, item_failed, item_skipped, retry, diff, stats, output, notice or run_end.',
    }),
    host: t.exposeString('host', { nullable: true, description: 'Name of the host it is about.' }),
    play: t.exposeString('play', { nullable: true, description: 'Name of the play.' }),
    task: t.exposeString('task', { nullable: true, description: 'Name of the task.' }),
    action: t.exposeString('action', { nullable: true, description: 'The module of the task.' }),
    isChanged: t.exposeBoolean('isChanged', { nullable: true, description: 'Whether the task changed something.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'How long the task took on that host, in ms.' }),
    stdout: t.exposeString('stdout', {
      nullable: true,
      description: 'Its lines with ANSI colours, joined by line feeds, without a last one; null when it shows nothing.',
    }),
    startLine: t.expose('startLine', {
      type: 'BigInt',
      description: 'Number of the first of these lines in the whole log, from 1.',
    }),
    lineCount: t.exposeInt('lineCount', { description: 'How many lines it has.' }),
    result: t.expose('result', {
      type: 'JSON',
      nullable: true,
      description: "Ansible's result, at most 64 KiB; a longer one is cut and carries `_muster_truncated`.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
  }),
})
