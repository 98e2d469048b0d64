import { drainBlockedReason, type Worker as Row, undrainBlockedReason, WORKER_GONE_AFTER_SECONDS } from '@muster/core/workers'
import { builder } from '../../builder.ts'

const WorkerIsolation = builder.enumType('WorkerIsolation', {
  description: 'What a worker keeps playbooks in on its own machine.',
  values: {
    BUBBLEWRAP: { value: 'bubblewrap', description: 'A view of the machine of their own, and as root a user of their own.' },
    UID: { value: 'uid', description: 'A user without rights.' },
    NONE: { value: 'none', description: "Nothing: they can do what the worker's user can." },
  } as const,
})

export const Worker = builder.objectRef<Row>('Worker').implement({
  description: 'A process that executes runs. Workers serve all tenants of an installation.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id, for `drainWorker`.' }),
    name: t.exposeString('name', { description: 'Its name in logs: host, pid and something random.' }),
    host: t.exposeString('host', { description: 'The machine that it runs on.' }),
    pid: t.exposeInt('pid', { description: 'Its process id there.' }),
    version: t.exposeString('version', { description: 'Its version of Muster.' }),
    ansibleVersion: t.exposeString('ansibleVersion', { description: 'Its version of ansible-core.' }),
    isolation: t.expose('isolation', { type: WorkerIsolation, description: 'What it keeps playbooks in on its machine.' }),
    isolationWeakness: t.exposeString('isolationWeakness', {
      nullable: true,
      description: 'Why it keeps them in nothing, or not in the best; null: nothing is wanting.',
    }),
    concurrency: t.exposeInt('concurrency', { description: 'How many runs it executes at once.' }),
    running: t.exposeInt('running', { description: 'How many runs, of all tenants, it executes now.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it was started.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When it last gave a sign of life.' }),
    isGone: t.boolean({
      description: `It gave no sign of life for ${WORKER_GONE_AFTER_SECONDS} s: it is not counted on any more.`,
      resolve: ({ lastSeenAt }) => Date.now() - lastSeenAt.getTime() > WORKER_GONE_AFTER_SECONDS * 1000,
    }),
    drainingAt: t.expose('drainingAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it takes no more work. It is through when `running` is 0.',
    }),
    drainedByName: t.exposeString('drainedByName', { nullable: true, description: 'Who drained it.' }),
    drainBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not drain it; null: allowed.',
      resolve: (worker, _args, { ctx }) => drainBlockedReason(ctx.actor, worker),
    }),
    undrainBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not let it take work again; null: allowed.',
      resolve: (worker, _args, { ctx }) => undrainBlockedReason(ctx.actor, worker),
    }),
  }),
})
