import type { ClaimedSlurmAction, SlurmActionItem, SlurmItemOutcome } from '@muster/core/slurm-actions'
import type { SlurmAction } from '@muster/slurm/commands'
import { describe, expect, test } from 'vitest'
import type { ExecResult, Session } from '../ssh/exec.ts'
import { ActionTakenOver, executeAction } from './execute-action.ts'
import { QueryFailure } from './run-query.ts'

/** Jobs 5 and 6, as squeue prints them in this format. */
const runningJobs = (format: string): string => {
  const ids = ['jobid', 'arrayjobid', 'jobarrayid']
  const values: Record<string, string> = { arraytaskid: 'N/A', state: 'RUNNING' }
  const record = (id: string) =>
    format.replace(
      /([^,:]+):0([^,]+),?/g,
      (_, field, suffix) => (ids.includes(field) ? id : (values[field] ?? '(null)')) + suffix,
    )
  return `${record('5')}\n${record('6')}\n`
}

/** A controller with nodes, whose commands behave as the test says. */
function fakeSlurm(
  nodes: Record<string, string>,
  run: (argv: string[], nodes: Record<string, string>) => { code: number; stderr?: string; timedOut?: boolean },
  account = 'root\n0\n\n',
) {
  const commands: string[][] = []
  let reads = 0
  const answer = (argv: string[]): { code: number; stdout?: string; stderr?: string; timedOut?: boolean } => {
    const line = argv.join(' ')
    if (line === 'scontrol --version') return { code: 0, stdout: 'slurm 20.02.1\n' }
    if (line === 'scontrol ping') return { code: 0, stdout: 'Slurmctld(primary) at ctl is UP\n' }
    if (argv[0] === 'sh') return { code: 0, stdout: account }
    if (line.includes('show nodes')) {
      reads++
      return {
        code: 0,
        stdout: Object.entries(nodes)
          .map(([name, rest]) => `NodeName=${name} CPUTot=4 ${rest}\n`)
          .join(''),
      }
    }
    if (argv[0] === 'squeue') {
      reads++
      return { code: 0, stdout: runningJobs(argv.at(-1)!.replace('--Format=', '')) }
    }
    commands.push(argv)
    return run(argv, nodes)
  }
  const session: Session = {
    async exec(_command, { stdin }): Promise<ExecResult> {
      const lines = String(stdin).split('\n')
      const nonce = lines.find((line) => line.startsWith('echo '))!.slice(5)
      const argv = [...lines.find((line) => line.endsWith(' </dev/null'))!.matchAll(/'((?:[^']|'\\'')*)'/g)].map((m) => m[1]!)
      const { code, stdout = '', stderr = '', timedOut = false } = answer(argv)
      return {
        stdout: Buffer.from(`${nonce}\n${stdout}\n${nonce} ${code}\n`),
        stderr: Buffer.from(stderr),
        ...{ code: timedOut ? null : code, signal: null, truncated: false, timedOut },
      }
    },
    connectSocket: () => Promise.reject(new Error('not used')),
    close() {},
  }
  return { session, commands, reads: () => reads }
}

const REASON = 'fan (muster 000000000001)'
const DRAIN: SlurmAction = { verb: 'DRAIN_NODES', reason: REASON }
const REBOOT: SlurmAction = { verb: 'REBOOT_NODES', nextState: 'RESUME', reason: REASON }
const item = (target: string, sentAt: Date | null = null) => ({ target, sentAt }) as SlurmActionItem

async function execute(action: SlurmAction, items: SlurmActionItem[], session: Session, isOurs = () => true) {
  const outcomes: SlurmItemOutcome[] = []
  const journal: string[] = []
  let renewals = 0
  await executeAction(
    { row: { action }, items, cluster: { settings: { SlurmUser: 'slurm(64030)' } } } as unknown as ClaimedSlurmAction,
    { session, programFolder: null, timeoutMs: 1000, signal: new AbortController().signal, onReport() {} },
    {
      async renew() {
        renewals++
        return isOurs()
      },
      async command(command) {
        if (isOurs()) journal.push(command)
        return isOurs()
      },
      async results(list) {
        outcomes.push(...list)
        return true
      },
    },
    [0, 0, 0],
  )
  const byTarget = Object.fromEntries(
    outcomes.map(({ target, result, message }) => [target, message ? [result, message] : result]),
  )
  return { byTarget, outcomes, journal, renewals }
}

/** Drains the named nodes that exist and are not in `refused`, like scontrol: 1 although others changed. */
const drain =
  (refused: string[] = []) =>
  (argv: string[], nodes: Record<string, string>) => {
    const targets = argv
      .find((word) => word.startsWith('nodename='))!
      .slice(9)
      .split(',')
    for (const name of targets) if (!refused.includes(name)) nodes[name] = `State=IDLE+DRAIN Reason=${REASON} [root@1]`
    return targets.some((name) => refused.includes(name)) ? { code: 1, stderr: 'slurm_update error: Access denied' } : { code: 0 }
  }

describe('results come from the state', () => {
  test('each target has its own, and Slurm is quoted for the refused one', async () => {
    const slurm = fakeSlurm(
      { n1: 'State=IDLE', n2: 'State=IDLE', n3: `State=DOWN+DRAIN Reason=${REASON} [root@1]` },
      drain(['n2']),
    )
    const { byTarget, outcomes, journal } = await execute(
      DRAIN,
      ['n1', 'n2', 'n3', 'n4'].map((name) => item(name)),
      slurm.session,
    )
    expect(byTarget).toEqual({
      n1: 'DONE',
      n2: ['REFUSED', 'slurm_update error: Access denied'],
      n3: 'UNCHANGED',
      n4: ['NOT_FOUND', 'The cluster has no node n4.'],
    })
    expect(outcomes.find(({ target }) => target === 'n1')).toMatchObject({ before: 'IDLE', after: `IDLE+DRAIN: ${REASON}` })
    expect(journal).toHaveLength(2)
    expect(slurm.commands.map((argv) => argv[2])).toEqual(['nodename=n1,n2', 'nodename=n2'])
  })

  test('a refusal for lack of rights says which ones the account needs', async () => {
    const words = 'slurm_update error: Invalid user id'
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, () => ({ code: 1, stderr: `${words}\n` }))
    const { byTarget } = await execute(DRAIN, [item('n1')], slurm.session)
    expect(byTarget).toEqual({
      n1: [
        'REFUSED',
        `${words}\nThe account on the controller needs Slurm's operator or administrator level, or sudo without a password, or must be root or SlurmUser.`,
      ],
    })
  })

  test('success without effect is not verified', async () => {
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, () => ({ code: 0 }))
    const { byTarget } = await execute({ verb: 'POWER_DOWN_NODES' }, [item('n1')], slurm.session)
    expect(byTarget.n1).toEqual(['NOT_VERIFIED', expect.stringContaining('not visible')])
  })

  test('a failure with effect is done', async () => {
    const slurm = fakeSlurm({ n1: 'State=DOWN' }, (_argv, nodes) => {
      nodes.n1 = 'State=IDLE'
      return { code: 1, stderr: 'slurm_update error: Zero Bytes were transmitted or received' }
    })
    expect((await execute({ verb: 'RESUME_NODES' }, [item('n1')], slurm.session)).byTarget).toEqual({ n1: 'DONE' })
  })
})

describe('the outcome of a command that nobody answered', () => {
  test.each([
    ['deadline', { code: 0, timedOut: true }],
    ['timeout of Slurm', { code: 1, stderr: 'slurm_update error: Socket timed out on send/recv operation' }],
  ])('%s: is not a refusal', async (_name, answer) => {
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, () => answer)
    const { byTarget } = await execute(DRAIN, [item('n1')], slurm.session)
    expect(byTarget.n1).toEqual(['NOT_VERIFIED', expect.stringContaining('was not answered')])
    expect(slurm.commands).toHaveLength(1)
  })

  test('is its effect, when a later reading shows it', async () => {
    const nodes: Record<string, string> = { n1: 'State=IDLE' }
    const slurm = fakeSlurm(nodes, () => ({ code: 0, timedOut: true }))
    const { exec } = slurm.session
    slurm.session.exec = async (command, options) => {
      if (slurm.reads() === 3) nodes.n1 = `State=IDLE+DRAIN Reason=${REASON} [root@1]`
      return exec(command, options)
    }
    expect((await execute(DRAIN, [item('n1')], slurm.session)).byTarget).toEqual({ n1: 'DONE' })
  })
})

test('reads the state once for many commands, and renews the claim before each reading', async () => {
  const names = Array.from({ length: 50 }, (_, i) => `n${i}`)
  const slurm = fakeSlurm(Object.fromEntries(names.map((name) => [name, 'State=IDLE'])), (argv, nodes) => {
    nodes[argv.at(-1)!] = 'State=IDLE+DRAIN+REBOOT_REQUESTED'
    return { code: 0 }
  })
  const { byTarget, renewals } = await execute(
    REBOOT,
    names.map((name) => item(name)),
    slurm.session,
  )
  expect(byTarget).toEqual(Object.fromEntries(names.map((name) => [name, 'DONE'])))
  expect(slurm.commands).toHaveLength(50)
  expect(slurm.reads()).toBe(2)
  // Before the check of the controller, too.
  expect(renewals).toBe(3)
})

test('a signal is sent to each job, and the queue is read once before', async () => {
  const slurm = fakeSlurm({}, (argv) =>
    argv.includes('6') ? { code: 1, stderr: 'scancel: error: Kill job error on job id 6' } : { code: 0 },
  )
  const { byTarget } = await execute(
    { verb: 'CANCEL_JOBS', signal: 'USR1' },
    ['5', '6', '7'].map((id) => item(id)),
    slurm.session,
  )
  expect(byTarget).toEqual({
    5: 'DONE',
    6: ['REFUSED', 'scancel: error: Kill job error on job id 6'],
    7: ['NOT_FOUND', expect.stringContaining('no job 7')],
  })
  expect(slurm.reads()).toBe(1)
})

describe('after the loss of a worker', () => {
  const sent = new Date()

  test('a command without harm is repeated where it had no effect', async () => {
    const slurm = fakeSlurm({ n1: `State=IDLE+DRAIN Reason=${REASON} [root@1]`, n2: 'State=IDLE' }, drain())
    const { byTarget } = await execute(DRAIN, [item('n1', sent), item('n2', sent)], slurm.session)
    expect(byTarget).toEqual({ n1: 'DONE', n2: 'DONE' })
    expect(slurm.commands.map((argv) => argv[2])).toEqual(['nodename=n2'])
  })

  test('a reboot is never repeated', async () => {
    const slurm = fakeSlurm({ n1: 'State=IDLE+DRAIN+REBOOT_REQUESTED', n2: 'State=IDLE', n3: 'State=IDLE' }, (argv, nodes) => {
      nodes[argv.at(-1)!] = 'State=IDLE+DRAIN+REBOOT_REQUESTED'
      return { code: 0 }
    })
    const { byTarget } = await execute(REBOOT, [item('n1', sent), item('n2', sent), item('n3')], slurm.session)
    expect(byTarget).toEqual({ n1: 'DONE', n2: ['NOT_VERIFIED', expect.stringContaining('not repeated')], n3: 'DONE' })
    expect(slurm.commands.map((argv) => argv.at(-1))).toEqual(['n3'])
  })

  test('nothing is sent by a worker whose claim is lost', async () => {
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, drain())
    await expect(execute(DRAIN, [item('n1')], slurm.session, () => false)).rejects.toThrow(ActionTakenOver)
    expect(slurm.commands).toEqual([])
  })
})

test('nothing is sent to a controller that does not answer', async () => {
  const slurm = fakeSlurm({ n1: 'State=IDLE' }, drain())
  const { exec } = slurm.session
  slurm.session.exec = async (command, options) => {
    const ran = await exec(command, options)
    return { ...ran, stdout: Buffer.from(ran.stdout.toString().replace('is UP', 'is DOWN')) }
  }
  await expect(execute(DRAIN, [item('n1')], slurm.session)).rejects.toThrow(QueryFailure)
  expect(slurm.commands).toEqual([])
})

describe('the account', () => {
  const SCONTROL = '/opt/slurm/bin/scontrol'
  const ops = (rule: string, { level = 'None', config = '', path = SCONTROL } = {}) =>
    [
      ...['ops', '1000', `SLURM_CONF=${config}`, `scontrol=${path}`, 'scancel=/opt/slurm/bin/scancel', 'sacctmgr=', 'srun='],
      ...['Matching Defaults entries for ops on ctl:', '    env_reset, secure_path=/usr/bin', ''],
      ...['User ops may run the following commands on ctl:', `    ${rule}`, `level=${level}`, ''],
    ].join('\n')
  const all = '(ALL : ALL) NOPASSWD: ALL'
  const argv = ['scontrol', 'update', 'nodename=n1', 'state=drain', `reason="${REASON}"`]
  const withSudo = ['sudo', '-n', SCONTROL, ...argv.slice(1)]
  test.each([
    ['root', 'root\n0\n\n', false],
    ['SlurmUser', 'slurm\n64030\n\n', false],
    ['an operator with sudo', ops(all, { level: 'Operator' }), false],
    ['an ordinary user with sudo', ops(all), true],
    ['one whose level cannot be read', ops(all, { level: '' }), true],
    ['one whose program is unknown', ops(all, { path: '' }), false],
    ['one with sudo for the program', ops(`(root) NOPASSWD: /usr/bin/scancel,\n        SETENV: ${SCONTROL}`), true],
    ['one with sudo for its folder', ops('(root) NOPASSWD: /opt/slurm/bin/'), true],
    ['one with sudo for the program in another folder', ops('(root) NOPASSWD: /usr/bin/scontrol'), false],
    ['one with sudo for another program', ops('(root) NOPASSWD: /opt/slurm/bin/scancel'), false],
    ['one with sudo for some arguments', ops(`(root) NOPASSWD: ${SCONTROL} reconfigure`), false],
    ['one with sudo for all programs but this', ops(`(ALL) NOPASSWD: ALL, !${SCONTROL}`), false],
    ['one with an exclusion in another rule', ops(`(ALL) !${SCONTROL}\n    (root) NOPASSWD: ALL`), false],
    ['one with an exclusion of other arguments', ops(`(ALL) NOPASSWD: ALL, !${SCONTROL} shutdown`), true],
    ['one with sudo to another account', ops('(postgres) NOPASSWD: ALL'), false],
    ['one with sudo that asks for a password', ops('(ALL : ALL) ALL'), false],
    ['one with sudo that asks for a password for it', ops(`(ALL) NOPASSWD: /usr/bin/id, PASSWD: ${SCONTROL}`), false],
    ['an ordinary user', ops(''), false],
    ['one whose rights cannot be read', 'Welcome', false],
  ])('%s: with sudo only when needed and permitted', async (_, account, isRoot) => {
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, drain(), account)
    const { journal, byTarget } = await execute(DRAIN, [item('n1')], slurm.session)
    expect(slurm.commands).toEqual([isRoot ? withSudo : argv])
    expect(journal).toEqual([slurm.commands[0]!.join(' ')])
    expect(byTarget).toEqual({ n1: 'DONE' })
  })

  const denied = { code: 1, stderr: 'slurm_update error: Invalid user id' }

  test('does not use sudo where it would drop SLURM_CONF, and a refusal says why', async () => {
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, () => denied, ops(all, { config: 'set' }))
    const { byTarget } = await execute(DRAIN, [item('n1')], slurm.session)
    expect(slurm.commands).toEqual([argv])
    expect(byTarget.n1).toEqual([
      'REFUSED',
      expect.stringMatching(/Invalid user id\nsudo is not used: the shell of ops sets SLURM_CONF/),
    ])
  })

  test.each(['sudo: a password is required', `Sorry, user ops is not allowed to execute '${SCONTROL} update' as root on ctl.`])(
    'sends the plain command once after a refusal by sudo: %s',
    async (words) => {
      const nodes = { n1: 'State=IDLE', n2: 'State=IDLE' }
      const slurm = fakeSlurm(nodes, (argv) => (argv[0] === 'sudo' ? { code: 1, stderr: words } : denied), ops(all))
      const { byTarget, journal } = await execute(
        { verb: 'REBOOT_NODES', nextState: 'RESUME', reason: REASON },
        [item('n1'), item('n2')],
        slurm.session,
      )
      expect(slurm.commands.map(([program]) => program)).toEqual(['sudo', 'scontrol', 'scontrol'])
      expect(journal).toHaveLength(3)
      expect(byTarget.n1).toEqual(['REFUSED', expect.stringContaining(`${denied.stderr}\n${words}`)])
    },
  )

  test('does not repeat what Slurm refused', async () => {
    const slurm = fakeSlurm(
      { n1: 'State=IDLE' },
      () => ({ code: 1, stderr: `sudo: unable to resolve host ctl\n${denied.stderr}` }),
      ops(all),
    )
    await execute(DRAIN, [item('n1')], slurm.session)
    expect(slurm.commands).toEqual([withSudo])
  })

  test('sends nothing while its rights are not known', async () => {
    const slurm = fakeSlurm({ n1: 'State=IDLE' }, drain(), ops(all))
    const { exec } = slurm.session
    slurm.session.exec = async (command, options) => {
      const ran = await exec(command, options)
      return String(options?.stdin).includes('sudo -n -l') ? { ...ran, timedOut: true } : ran
    }
    await expect(execute(DRAIN, [item('n1')], slurm.session)).rejects.toThrow(/rights of the account cannot be read within 1 s/)
    expect(slurm.commands).toEqual([])
  })
})
