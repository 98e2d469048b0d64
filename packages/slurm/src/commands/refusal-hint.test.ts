import { expect, test } from 'vitest'
import type { SlurmAction } from './action.ts'
import { refusalHint } from './refusal-hint.ts'

const drain: SlurmAction = { verb: 'DRAIN_NODES', reason: 'fan' }
const RIGHTS =
  /account on the controller .*needs Slurm's operator or administrator level, or sudo without a password, or must be root or SlurmUser/

test.each(['slurm_update error: Invalid user id', 'scancel: error: Kill job error on job id 5: Access/permission denied'])(
  'names the rights that the account lacks after "%s"',
  (output) => {
    expect(refusalHint(drain, output)).toMatch(RIGHTS)
  },
)

test('names the users of a reservation first, for which Slurm has the same error', () => {
  const reserve: SlurmAction = { verb: 'UPDATE_RESERVATION', users: ['alice'] }
  const hint = refusalHint(reserve, 'Error updating the reservation: Invalid user id')
  expect(hint).toMatch(/^Check that the users of the reservation exist/)
  expect(hint).toMatch(RIGHTS)
})

test.each(['scancel: error: Kill job error on job id 6', 'slurm_update error: Invalid node name specified', ''])(
  'adds nothing to "%s"',
  (output) => {
    expect(refusalHint(drain, output)).toBeNull()
  },
)
