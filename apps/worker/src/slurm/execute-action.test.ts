import type { ClaimedSlurmAction, SlurmActionItem, SlurmItemOutcome } from '@muster/core/slurm-actions'
import type { SlurmAction } from '@muster/slurm/commands'
import { describe, expect, test } from 'vitest'
import type { ExecResult, Session } from '../ssh/exec.ts'
import { ActionTakenOver, executeAction } from './execute-action.ts'
import { QueryFailure } from './run-query.ts'

/** A controller with nodes, whose commands behave as the test says. */
function fakeSlurm(
  nodes: Record<string, string>,
  run: (argv: string[], nodes: Record<string, string>) => { code: number; stderr?: string },
) {
  const commands: string[][] = []
  const answer = (argv: string[]): { code: number; stdout?: string; stderr?: string } => {
    const line = argv.join(' ')
    if (line === 'scontrol --version') return { code: 0, stdout: 'slurm 20.02.1\n' }
    if (line === 'scontrol ping') return { code: 0, stdout: 'Slurmctld(primary) at ctl is UP\n' }
    if (line.includes('show nodes'))
      return {
        code: 0,
        stdout: Object.entries(nodes)
          .map(([name, rest]) => `NodeName=${name} ${rest}\n`)
          .join(''),
      }
    commands.push(argv)
    return run(argv, nodes)
  }
  const session: Session = {
    async exec(_command, { stdin }): Promise<ExecResult> {
      const lines = String(stdin).split('\n')
      const nonce = lines.find((line) => line.startsWith('echo '))!.slice(5)
      const argv = [...lines.find((line) => line.startsWith('exec '))!.matchAll(/'((?:[^']|'\\'')*)'/g)].map((m) => m[1]!)
      const { code, stdout = '', stderr = '' } = answer(argv)
      return {
        stdout: Buffer.from(`${nonce}\n${stdout}`),
        stderr: Buffer.from(stderr),
        ...{ code, signal: null, truncated: false, timedOut: false },
      }
    },
    close() {},
  }
  return { session, commands }
}

const REASON = 'fan (muster 000000000001)'
const DRAIN: SlurmAction = { verb: 'DRAIN_NODES', reason: REASON }
const REBOOT: SlurmAction = { verb: 'REBOOT_NODES', nextState: 'RESUME', reason: REASON }
const item = (target: string, sentAt: Date | null = null) => ({ target, sentAt }) as SlurmActionItem

async function execute(action: SlurmAction, items: SlurmActionItem[], session: Session, isOurs = () => true) {
  const outcomes: SlurmItemOutcome[] = []
  const journal: string[] = []
  await executeAction(
    { row: { action }, items } as ClaimedSlurmAction,
    { session, programFolder: null, timeoutMs: 1000, signal: new AbortController().signal, onReport() {} },
    {
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
  return { byTarget, outcomes, journal }
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
