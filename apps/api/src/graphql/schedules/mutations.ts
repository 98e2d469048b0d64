import { Conflict, NotFound } from '@muster/core/errors'
import {
  createSchedule,
  deleteSchedule,
  disableSchedule,
  enableSchedule,
  runSchedule,
  updateSchedule,
} from '@muster/core/schedules'
import { settingsInput } from '../runs/setting-fields.ts'
import { globalId, rowId } from '../shared/ids.ts'
import { deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../shared/mutation.ts'
import { ScheduleTarget } from './enums.ts'
import { blackoutsInput, RULE, scheduleFields } from './inputs.ts'
import { Schedule, ScheduleFiring } from './types.ts'

const NAME = 'Name, unique in the tenant.'
const LIMIT = 'Selector of the nodes, as in `runJob`. It is resolved at each time.'
const payload = { schedule: { type: Schedule, description: 'The schedule.' } }
const id = (t: InputFields) => t.id({ required: true, description: 'ID of the schedule.' })

mutation('createSchedule', {
  description: 'Creates a schedule. It starts its target with the permissions that the caller has at each time.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    target: t.field({ type: ScheduleTarget, required: true, description: 'What it starts.' }),
    limit: t.string({ required: true, description: LIMIT }),
    rule: t.string({ required: true, description: RULE }),
    ...scheduleFields(t, statesDefault),
    isEnabled: t.boolean({ description: 'Whether it starts anything. Default: true.' }),
  }),
  idempotent: true,
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ settings, blackouts, ...input }, { ctx }) => ({
    schedule: await createSchedule(ctx, { ...input, settings: settingsInput(settings), blackouts: blackoutsInput(blackouts) }),
  }),
})

mutation('updateSchedule', {
  description:
    'Changes a schedule and makes the caller its owner. Omitted fields keep their values; null clears the start or the end. `settings` and `blackouts` replace the previous ones.',
  input: (t) => ({
    id: id(t),
    name: t.string({ description: NAME }),
    limit: t.string({ description: LIMIT }),
    rule: t.string({ description: RULE }),
    ...scheduleFields(t, keepsValue),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ settings, blackouts, ...input }, { ctx }) => {
    const changes = {
      ...input,
      ...(settings ? { settings: settingsInput(settings) } : {}),
      ...(blackouts ? { blackouts: blackoutsInput(blackouts) } : {}),
      id: rowId('Schedule', input.id),
    }
    // The verb rejects null for fields that cannot be cleared.
    return { schedule: await updateSchedule(ctx, changes as Parameters<typeof updateSchedule>[1]) }
  },
})

mutation('enableSchedule', {
  description: 'Enables a schedule from its next time on, and makes the caller its owner.',
  input: (t) => ({ id: id(t) }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => ({ schedule: await enableSchedule(ctx, { id: rowId('Schedule', id) }) }),
})

mutation('runSchedule', {
  description:
    'Starts the target of a schedule now, with the permissions of the caller. Blackouts and jitter do not apply; the overlap policy does. Works for disabled schedules, too.',
  input: (t) => ({ id: id(t) }),
  idempotent: true,
  payload: { firing: { type: ScheduleFiring, description: 'What was started.' } },
  errors: [Conflict, NotFound],
  resolve: async ({ id, idempotencyKey }, { ctx }) => ({
    firing: await runSchedule(ctx, { id: rowId('Schedule', id), idempotencyKey }),
  }),
})

mutation('disableSchedule', {
  description: 'Disables a schedule. What it has started continues.',
  input: (t) => ({ id: id(t) }),
  payload,
  errors: [NotFound],
  resolve: async ({ id }, { ctx }) => ({ schedule: await disableSchedule(ctx, { id: rowId('Schedule', id) }) }),
})

mutation('deleteSchedule', {
  description: 'Deletes a schedule with its history. What it has started continues.',
  input: (t) => ({ id: id(t) }),
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('Schedule', (await deleteSchedule(ctx, { id: rowId('Schedule', id) })).id),
  }),
})
