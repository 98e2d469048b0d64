import { NotFound } from '@muster/core/errors'
import { checkOpenchamiTarget, removeOpenchamiTarget, setOpenchamiTarget } from '@muster/core/openchami'
import { globalId } from '../shared/ids.ts'
import { deletedPayload, mutation } from '../shared/mutation.ts'
import { OpenchamiCheckMode, OpenchamiTarget, OpenchamiTargetMode } from './types.ts'

const payload = { openchamiTarget: { type: OpenchamiTarget, description: 'The target.' } }

mutation('setOpenchamiTarget', {
  description:
    'Sets the OpenCHAMI target of the tenant, or changes it. Omitted fields keep their values; null clears a field or restores its default. A worker compares right afterwards, unless the mode is OFF.',
  input: (t) => ({
    smdUrl: t.string({ description: 'Address of SMD, without `/hsm/v2`. SMD, BSS or both are required.' }),
    bssUrl: t.string({ description: 'Address of BSS, without `/boot/v1`.' }),
    token: t.string({ description: 'JWT of both services. Stored encrypted; required again when a server changes.' }),
    caCertificate: t.string({
      description: 'The only accepted certificate authorities, in PEM. Default: those that the worker trusts.',
    }),
    mode: t.field({ type: OpenchamiTargetMode, description: 'What periodic checks do. Default: REPORT.' }),
    intervalSeconds: t.int({ description: 'Time between two checks, in seconds, at least 60. Default: 3600.' }),
  }),
  payload,
  errors: [],
  resolve: async (input, { ctx, deps }) => ({ openchamiTarget: await setOpenchamiTarget(ctx, input, deps.localTargets) }),
})

mutation('removeOpenchamiTarget', {
  description: 'Removes the OpenCHAMI target of the tenant. What was pushed stays in the services.',
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async (_input, { ctx }) => ({
    deletedId: globalId('OpenchamiTarget', (await removeOpenchamiTarget(ctx)).id),
  }),
})

mutation('checkOpenchamiTarget', {
  description:
    'Requests a check of the OpenCHAMI target now, also of one that is OFF. `isCheckPending` is true until a worker has finished it.',
  input: (t) => ({
    mode: t.field({ type: OpenchamiCheckMode, required: true, description: 'What this check does.' }),
  }),
  payload,
  errors: [NotFound],
  resolve: async ({ mode }, { ctx }) => ({ openchamiTarget: await checkOpenchamiTarget(ctx, { mode }) }),
})
