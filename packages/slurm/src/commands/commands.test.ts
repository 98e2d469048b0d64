import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { actionArguments, commandGroups, type SlurmAction, targetKind } from './action.ts'
import { InvalidSlurmWord, reasonArgument } from './words.ts'

const future = 1_893_456_000

describe('arguments', () => {
  test.each<[SlurmAction, string[], string[]]>([
    [
      { verb: 'DRAIN_NODES', reason: 'fan | a=b' },
      ['n1', 'n2'],
      ['scontrol', 'update', 'nodename=n1,n2', 'state=drain', 'reason="fan | a=b"'],
    ],
    [{ verb: 'DOWN_NODES', reason: 'x' }, ['n1'], ['scontrol', 'update', 'nodename=n1', 'state=down', 'reason="x"']],
    [{ verb: 'RESUME_NODES' }, ['n1'], ['scontrol', 'update', 'nodename=n1', 'state=resume']],
    [{ verb: 'UNDRAIN_NODES' }, ['n1'], ['scontrol', 'update', 'nodename=n1', 'state=undrain']],
    [{ verb: 'POWER_UP_NODES' }, ['n1'], ['scontrol', 'update', 'nodename=n1', 'state=power_up']],
    [{ verb: 'POWER_DOWN_NODES' }, ['n1'], ['scontrol', 'update', 'nodename=n1', 'state=power_down']],
    [
      { verb: 'REBOOT_NODES', nextState: 'RESUME', reason: 'kernel' },
      ['n1'],
      ['scontrol', 'reboot', 'ASAP', 'nextstate=RESUME', 'reason=kernel', 'n1'],
    ],
    [
      { verb: 'UPDATE_NODES', features: ['a', 'b'], weight: 5 },
      ['n1'],
      ['scontrol', 'update', 'nodename=n1', 'availablefeatures=a,b', 'activefeatures=a,b', 'weight=5'],
    ],
    [{ verb: 'HOLD_JOBS' }, ['1', '3_[2-9%2]', '12+1'], ['scontrol', 'hold', '1,3_[2-9],12+1']],
    [{ verb: 'RELEASE_JOBS' }, ['1'], ['scontrol', 'release', '1']],
    [{ verb: 'REQUEUE_JOBS' }, ['1'], ['scontrol', 'requeue', '1']],
    [{ verb: 'SUSPEND_JOBS' }, ['1'], ['scontrol', 'suspend', '1']],
    [{ verb: 'RESUME_JOBS' }, ['1'], ['scontrol', 'resume', '1']],
    [{ verb: 'CANCEL_JOBS' }, ['1', '3_1'], ['scancel', '1', '3_1']],
    [{ verb: 'CANCEL_JOBS', signal: 'USR1' }, ['1'], ['scancel', '--signal=USR1', '1']],
    [
      { verb: 'UPDATE_JOBS', timeLimit: 90, priority: 7 },
      ['1', '2'],
      ['scontrol', 'update', 'jobid=1,2', 'timelimit=90', 'priority=7'],
    ],
    [{ verb: 'UPDATE_JOBS', timeLimit: 'UNLIMITED' }, ['1'], ['scontrol', 'update', 'jobid=1', 'timelimit=UNLIMITED']],
    [{ verb: 'SET_PARTITION_STATE', state: 'DRAIN' }, ['gpu'], ['scontrol', 'update', 'partitionname=gpu', 'state=DRAIN']],
    [
      { verb: 'CREATE_RESERVATION', startTime: future, durationMinutes: 60, nodes: ['n1'], users: ['root'], flags: ['MAINT'] },
      ['fix'],
      [
        'scontrol',
        'create',
        'reservation',
        'reservationname=fix',
        `starttime=uts${future}`,
        'duration=60',
        'nodes=n1',
        'users=root',
        'flags=MAINT',
      ],
    ],
    [
      { verb: 'UPDATE_RESERVATION', durationMinutes: 120 },
      ['fix'],
      ['scontrol', 'update', 'reservationname=fix', 'duration=120'],
    ],
    [{ verb: 'DELETE_RESERVATION' }, ['fix'], ['scontrol', 'delete', 'reservationname=fix']],
  ])('of %j', (action, targets, argv) => {
    expect(actionArguments(action, targets)).toEqual(argv)
  })

  // ALL means every node or user to Slurm, an empty list of jobs is success, and a leading hyphen is an option.
  test.each<[SlurmAction, string[]]>([
    [{ verb: 'RESUME_NODES' }, ['ALL']],
    [{ verb: 'RESUME_NODES' }, ['default']],
    [{ verb: 'RESUME_NODES' }, []],
    [{ verb: 'RESUME_NODES' }, ['n[1-2]']],
    [{ verb: 'RESUME_NODES' }, ['n1,n2']],
    [{ verb: 'RESUME_NODES' }, ['n1 state=down']],
    [{ verb: 'HOLD_JOBS' }, []],
    [{ verb: 'HOLD_JOBS' }, ['0']],
    [{ verb: 'HOLD_JOBS' }, ['3_[1,3,...]']],
    [{ verb: 'CANCEL_JOBS' }, ['--user=root']],
    [{ verb: 'CANCEL_JOBS', signal: 'TERM --user=root' }, ['1']],
    [{ verb: 'UPDATE_JOBS' }, ['1']],
    [{ verb: 'UPDATE_JOBS', timeLimit: -1 }, ['1']],
    [{ verb: 'UPDATE_NODES' }, ['n1']],
    [{ verb: 'UPDATE_NODES', features: ['a,b=c'] }, ['n1']],
    [{ verb: 'SET_PARTITION_STATE', state: 'UP' }, ['']],
    [{ verb: 'UPDATE_RESERVATION' }, ['fix']],
    [{ verb: 'UPDATE_RESERVATION', users: [] }, ['fix']],
    [{ verb: 'DELETE_RESERVATION' }, ['a=b']],
  ])('are refused for %j %j', (action, targets) => {
    expect(() => actionArguments(action, targets)).toThrow(InvalidSlurmWord)
  })

  test('of any text are refused, or contain it as one word', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.stringMatching(/^[a-z0-9_,[\]=%+ "'|$-]{0,20}$/))
    const actions: SlurmAction[] = [
      { verb: 'REBOOT_NODES', nextState: 'DOWN', reason: 'x' },
      { verb: 'HOLD_JOBS' },
      { verb: 'CANCEL_JOBS' },
      { verb: 'DELETE_RESERVATION' },
    ]
    fc.assert(
      fc.property(text, fc.constantFrom(...actions), (target, action) => {
        let argv: string[]
        try {
          argv = actionArguments(action, [target])
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidSlurmWord)
          return
        }
        const word = argv.at(-1)!
        expect(word.slice(word.indexOf('=') + 1)).toBe(target.replace(/%\d+\]$/, ']'))
        expect(word).not.toMatch(/^-|[\s"'|$]|=.*=/)
        if (action.verb === 'REBOOT_NODES') expect(target.toLowerCase()).not.toBe('all')
      }),
      { numRuns: 2000 },
    )
  })
})

/** What scontrol stores of `reason=VALUE`, seen in 22.05 and 25.11. */
const stored = (argument: string) =>
  argument
    .replace(/^reason=/, '')
    .replace(/^"/, '')
    .replace(/"$/, '')

describe('reasons', () => {
  test('reach Slurm unchanged', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), fc.constantFrom('"', '"a"', "it's")),
        (reason) => {
          fc.pre(reason.trim() !== '' && !/\p{Cc}|\u2028|\u2029/u.test(reason) && reason.length <= 256)
          expect(stored(reasonArgument(reason))).toBe(reason)
        },
      ),
    )
  })

  test.each(['', '  ', 'two\nlines', 'a\u0000b', 'tab\there', 'x'.repeat(257)])('%j is refused', (reason) => {
    expect(() => reasonArgument(reason)).toThrow('one line of 1 to 256 characters')
  })
})

describe('groups of targets', () => {
  const names = Array.from({ length: 1200 }, (_, i) => `n${i}`)
  const shape = (action: SlurmAction, targets: string[]) => commandGroups(action, targets).map(({ length }) => length)

  test('keep arguments short, and all targets in order', () => {
    expect(shape({ verb: 'RESUME_NODES' }, names)).toEqual([500, 500, 200])
    const long = names.map((name) => name.padEnd(200, 'x'))
    const groups = commandGroups({ verb: 'RESUME_NODES' }, long)
    expect(groups.flat()).toEqual(long)
    for (const group of groups) expect(actionArguments({ verb: 'RESUME_NODES' }, group)[2]!.length).toBeLessThan(33_000)
  })

  test('are single when a repetition would do harm, or Slurm takes one', () => {
    for (const action of [
      { verb: 'REQUEUE_JOBS' },
      { verb: 'CANCEL_JOBS', signal: 'USR1' },
      { verb: 'REBOOT_NODES', nextState: 'DOWN', reason: 'x' },
      { verb: 'SET_PARTITION_STATE', state: 'UP' },
      { verb: 'DELETE_RESERVATION' },
    ] satisfies SlurmAction[])
      expect(shape(action, ['1', '2', '3'])).toEqual([1, 1, 1])
    expect(shape({ verb: 'CANCEL_JOBS' }, ['1', '2', '3'])).toEqual([3])
  })

  test('each verb has a kind of target', () => {
    expect((['UPDATE_NODES', 'UPDATE_JOBS', 'SET_PARTITION_STATE', 'UPDATE_RESERVATION'] as const).map(targetKind)).toEqual([
      'node',
      'job',
      'partition',
      'reservation',
    ])
  })
})
