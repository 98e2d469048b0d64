import { drainBlockedReason, undrainBlockedReason, WORKER_GONE_AFTER_SECONDS } from '@muster/core/workers'
import { builder } from '../../builder.ts'
import { nullableActorField } from '../access/people.ts'
import { connectionTypes } from '../shared/connections.ts'

const WorkerIsolation = builder.enumType('WorkerIsolation', {
  description: 'How a worker isolates playbooks on its machine.',
  values: {
    BUBBLEWRAP: {
      value: 'bubblewrap',
      description: 'A bubblewrap sandbox; when the worker runs as root, also a user of their own.',
    },
    UID: { value: 'uid', description: 'An unprivileged user per concurrent run.' },
    NONE: { value: 'none', description: 'No isolation, as set for the worker: playbooks have its permissions.' },
    UNAVAILABLE: {
      value: 'unavailable',
      description: 'No sandbox can be used there: the worker runs shipped playbooks only, without isolation.',
    },
  } as const,
})

export const Worker = builder.drizzleNode('workers', {
  name: 'Worker',
  description: 'A process that executes runs. Workers serve all tenants of the installation.',
  select: { columns: { id: true } },
  id: { column: (worker) => worker.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name in logs: host, process ID and a random suffix.' }),
    host: t.exposeString('host', { description: 'Name of the machine.' }),
    pid: t.exposeInt('pid', { description: 'Process ID.' }),
    version: t.exposeString('version', { description: 'Version of Muster.' }),
    ansibleVersion: t.exposeString('ansibleVersion', { description: 'Version of ansible-core.' }),
    isolation: t.expose('isolation', { type: WorkerIsolation, description: 'How playbooks are isolated.' }),
    isolationWeakness: t.exposeString('isolationWeakness', {
      nullable: true,
      description: 'Why playbooks are not isolated, or not in the best way; null when they are.',
    }),
    concurrency: t.exposeInt('concurrency', { description: 'Maximum number of concurrent runs.' }),
    runningCount: t.exposeInt('running', { description: 'Number of runs of all tenants that the worker executes.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When the process was started.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When the worker last reported that it is alive.' }),
    isGone: t.boolean({
      description: `Whether the worker has not reported for ${WORKER_GONE_AFTER_SECONDS} seconds. Its capacity no longer counts.`,
      select: { columns: { lastSeenAt: true } },
      resolve: ({ lastSeenAt }) => Date.now() - lastSeenAt.getTime() > WORKER_GONE_AFTER_SECONDS * 1000,
    }),
    drainedAt: t.expose('drainedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the worker was drained; null when it is not. It is idle when `runningCount` is 0.',
    }),
    drainedBy: t.field(nullableActorField('drained', 'Actor that drained the worker; null when it is not drained.')),
    drainBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot drain the worker; null when allowed.',
      select: { columns: { name: true, drainedAt: true } },
      resolve: (worker, _args, { ctx }) => drainBlockedReason(ctx.actor, worker),
    }),
    undrainBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot undrain the worker; null when allowed.',
      select: { columns: { name: true, drainedAt: true } },
      resolve: (worker, _args, { ctx }) => undrainBlockedReason(ctx.actor, worker),
    }),
  }),
})

export const workerConnection = connectionTypes(Worker, 'Worker', 'workers')
