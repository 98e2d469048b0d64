import { describe, expect, test } from 'vitest'
import type { SlurmJob } from '../parse-jobs.ts'
import { parseNodes } from '../parse-nodes.ts'
import { parseReservations } from '../parse-reservations.ts'
import type { SlurmAction } from './action.ts'
import { stateFinder } from './evaluate.ts'
import { isJobHeld, jobsOfTarget } from './job-targets.ts'

const expand = (list: string) => list.split(',')
const nodeText = (state: string, more = '') =>
  parseNodes(`NodeName=n1 CPUTot=8 State=${state} Weight=5 AvailableFeatures=a,b ${more}\n`)

describe('nodes', () => {
  const reached = (action: SlurmAction, state: string, more = '') =>
    stateFinder(action, { nodes: nodeText(state, more) }, expand)('n1')?.isReached

  test.each<[SlurmAction, string, string, boolean]>([
    [{ verb: 'DRAIN_NODES', reason: 'fan' }, 'MIXED+DRAIN', 'Reason=fan [root@1]', true],
    [{ verb: 'DRAIN_NODES', reason: 'fan' }, 'MIXED+DRAIN', 'Reason=other [root@1]', false],
    [{ verb: 'DRAIN_NODES', reason: 'fan' }, 'IDLE', '', false],
    [{ verb: 'DOWN_NODES', reason: 'fan' }, 'DOWN*', 'Reason=fan [root@1]', true],
    [{ verb: 'RESUME_NODES' }, 'IDLE*', '', true],
    [{ verb: 'RESUME_NODES' }, 'DOWN', '', false],
    [{ verb: 'RESUME_NODES' }, 'IDLE+DRAIN', '', false],
    [{ verb: 'UNDRAIN_NODES' }, 'DOWN', '', true],
    [{ verb: 'RESUME_NODES', onlyReason: 'fan' }, 'IDLE+DRAIN', 'Reason=disk [root@1]', true],
    [{ verb: 'RESUME_NODES', onlyReason: 'fan' }, 'IDLE+DRAIN', 'Reason=fan : reboot issued [root@1]', false],
    [{ verb: 'UNDRAIN_NODES', onlyReason: 'fan' }, 'IDLE+DRAIN', 'Reason=disk [root@1]', true],
    [{ verb: 'UNDRAIN_NODES', onlyReason: 'fan' }, 'DOWN+DRAIN', 'Reason=fan [root@1]', false],
    [{ verb: 'POWER_UP_NODES' }, 'IDLE+CLOUD+POWERED_DOWN', '', false],
    [{ verb: 'POWER_UP_NODES' }, 'IDLE+CLOUD+POWERING_UP', '', true],
    [{ verb: 'POWER_DOWN_NODES' }, 'IDLE+POWER_DOWN', '', true],
    [{ verb: 'REBOOT_NODES', nextState: 'RESUME', reason: 'x' }, 'IDLE+DRAIN+REBOOT_REQUESTED', '', true],
    [{ verb: 'REBOOT_NODES', nextState: 'RESUME', reason: 'x' }, 'IDLE', '', false],
    [{ verb: 'UPDATE_NODES', weight: 5, features: ['b', 'a'] }, 'IDLE', '', true],
    [{ verb: 'UPDATE_NODES', features: ['a'] }, 'IDLE', '', false],
  ])('%j with the state %s %s: %j', (action, state, more, expected) => {
    expect(reached(action, state, more)).toBe(expected)
  })

  test('that the controller does not have are null', () => {
    expect(stateFinder({ verb: 'RESUME_NODES' }, { nodes: nodeText('IDLE') }, expand)('n2')).toBeNull()
  })
})

const job = (changes: Partial<SlurmJob>): SlurmJob => ({
  ...({
    id: 1,
    arrayJobId: null,
    arrayTaskId: null,
    arrayTasks: null,
    hetJobId: null,
    hetJobOffset: null,
    startAt: null,
  } as SlurmJob),
  ...{ states: ['PENDING'], reason: null, reasonDetail: null, timeLimit: 60, priority: 10 },
  ...changes,
})

describe('jobs', () => {
  const jobs = [
    job({ id: 1 }),
    job({ id: 3, arrayJobId: 3, arrayTaskId: 4 }),
    job({ id: 7, arrayJobId: 3, arrayTaskId: 1, states: ['RUNNING'] }),
    job({ id: 8, arrayJobId: 3, arrayTaskId: 2 }),
    job({ id: 9, arrayJobId: 3, arrayTaskId: 3, states: ['COMPLETED'] }),
    job({ id: 12, hetJobId: 12, hetJobOffset: 0 }),
    job({ id: 13, hetJobId: 12, hetJobOffset: 1 }),
  ]

  test.each([
    ['1', [1]],
    ['3', [3, 7, 8]],
    ['3_1', [7]],
    ['3_[1-2,4%2]', [3, 7, 8]],
    ['3_[2-8:2]', [3, 8]],
    ['3_3', []],
    ['12', [12, 13]],
    ['12+1', [13]],
    ['7', [7]],
    ['99', []],
  ])('%s names the records %j', (target, ids) => {
    expect(
      jobsOfTarget(jobs)(target)
        .map(({ id }) => id)
        .sort((a, b) => a - b),
    ).toEqual(ids)
  })

  test('of which a part is held are not held', () => {
    expect(isJobHeld(job({ reason: 'JobHeldAdmin', reasonDetail: 'JobHeldAdmin,None' }))).toBe(false)
    expect(isJobHeld(job({ reason: 'JobHeldAdmin' }))).toBe(true)
    expect(isJobHeld(job({ reason: 'JobHeldUser', reasonDetail: 'JobHeldUser' }))).toBe(true)
    expect(isJobHeld(job({ reason: null }))).toBe(false)
    expect(isJobHeld(job({ reason: 'Dependency', priority: 0 }))).toBe(true)
    expect(isJobHeld(job({ states: ['SUSPENDED'], priority: 0 }))).toBe(false)
  })

  test('that Slurm holds after a requeue are held', () => {
    expect(isJobHeld(job({ reasonDetail: 'job requeued in held state' }))).toBe(true)
    expect(isJobHeld(job({ reasonDetail: 'launch failed requeued held' }))).toBe(true)
  })

  test.each([
    ['3_1', [15]],
    ['3_5', [3]],
    ['3_8', []],
    ['3_999', []],
    ['3_[1-2,20]', [15, 3]],
    ['3_[0-1]', [15]],
    ['3_[11-17:3]', [3]],
    ['3_[12-18:6]', []],
    ['3_[0-999999999:999999999]', []],
  ])('of a pending part: %s names the records %j', (target, ids) => {
    const part = job({ id: 3, arrayJobId: 3, arrayTasks: '2-5,11-19:2%2' })
    const task = job({ id: 15, arrayJobId: 3, arrayTaskId: 1, states: ['RUNNING'] })
    expect(jobsOfTarget([task, part])(target).map(({ id }) => id)).toEqual(ids)
  })

  test('of a pending part with a list that was cut off may be any', () => {
    const part = job({ id: 3, arrayJobId: 3, arrayTasks: '1,3,5,...' })
    expect(jobsOfTarget([part])('3_99')).toEqual([part])
  })

  test.each<[SlurmAction, Partial<SlurmJob>, boolean]>([
    [{ verb: 'HOLD_JOBS' }, { reason: 'JobHeldAdmin' }, true],
    [{ verb: 'RELEASE_JOBS' }, { reason: 'Priority' }, true],
    [{ verb: 'CANCEL_JOBS' }, { states: ['RUNNING'] }, false],
    [{ verb: 'CANCEL_JOBS' }, { states: ['COMPLETING'] }, true],
    [{ verb: 'CANCEL_JOBS', signal: 'USR1' }, { states: ['COMPLETING'] }, false],
    [{ verb: 'REQUEUE_JOBS' }, { states: ['PENDING', 'REQUEUED'] }, true],
    [{ verb: 'SUSPEND_JOBS' }, { states: ['SUSPENDED'] }, true],
    [{ verb: 'RESUME_JOBS' }, { states: ['SUSPENDED'] }, false],
    [{ verb: 'UPDATE_JOBS', timeLimit: 60, priority: 10 }, {}, true],
    [{ verb: 'UPDATE_JOBS', timeLimit: 'UNLIMITED' }, {}, false],
  ])('%j with %j: %j', (action, changes, expected) => {
    expect(stateFinder(action, { jobs: [job(changes)] }, expand)('1')?.isReached).toBe(expected)
  })

  test('that were restarted have another epoch, pending ones keep theirs', () => {
    const epoch = (changes: Partial<SlurmJob>) =>
      stateFinder({ verb: 'REQUEUE_JOBS' }, { jobs: [job(changes)] }, expand)('1')!.epoch
    expect(epoch({ startAt: new Date(1) })).toBe(epoch({ startAt: new Date(2) }))
    expect(epoch({ states: ['RUNNING'], startAt: new Date(1) })).not.toBe(epoch({ states: ['RUNNING'], startAt: new Date(2) }))
  })
})

test('reservations are compared by what was given', () => {
  const reservations = parseReservations(
    'ReservationName=fix StartTime=1893456000 EndTime=1893459600 Nodes=n1,n2 NodeCnt=2 Flags=MAINT,SPEC_NODES Users=root Accounts=(null)\n',
  )
  const reached = (changes: object) =>
    stateFinder({ verb: 'UPDATE_RESERVATION', ...changes }, { reservations }, expand)('fix')?.isReached
  expect(reached({ durationMinutes: 60, nodes: ['n2', 'n1'], users: ['root'], startTime: 1_893_456_000 })).toBe(true)
  expect(reached({ durationMinutes: 61 })).toBe(false)
  expect(reached({ nodes: ['n1'] })).toBe(false)
  expect(reached({ users: ['root', 'alice'] })).toBe(false)
})
