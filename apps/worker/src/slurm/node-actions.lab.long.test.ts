import { canRunSlurm } from '@muster/lab'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createSlurmActions, type SlurmActions, type SlurmRequest } from '../testing/slurm-actions.ts'

const LONG = { timeout: 120_000, interval: 200 }
const SOON = { timeout: 40_000, interval: 200 }
/** Power saving that switches no machine. */
const POWER_SAVING = {
  SuspendProgram: '/usr/bin/true',
  ResumeProgram: '/usr/bin/true',
  SuspendTime: '36000',
  SuspendTimeout: '2',
  ResumeTimeout: '60',
}

describe.runIf(canRunSlurm())('actions that stop nodes of a real cluster', () => {
  let actions: SlurmActions
  beforeAll(async () => {
    actions = await createSlurmActions({ nodes: [{ name: 'cpu-01' }, { name: 'cpu-02' }], config: POWER_SAVING })
    // A lab node has the uptime of this machine. With -b, slurmd reports its own start, in seconds, as the boot of the node.
    for (const name of ['cpu-01', 'cpu-02'])
      await on(name, "sed -i 's|^exec \\(.*\\) -D$|sleep 3; exec \\1 -D -b|' /usr/lib/lab/start-slurmd")
  }, 120_000)
  afterAll(() => actions?.close())

  const on = async (name: string, script: string) => (await actions.lab.node(name).exec(['sh', '-c', script])).stdout.trim()
  const slurm = async (...argv: string[]) => (await actions.lab.slurm!.run(argv)).stdout.trim()
  /** State and reason of cpu-02. Two nodes, because sinfo shows outdated states of a single one. */
  const state = async () => {
    const lines = await slurm('sinfo', '--noheader', '--Node', '--nodes=cpu-01,cpu-02', '--format=%N|%T|%E')
    return lines.split('\n').find((line) => line.startsWith('cpu-02|'))
  }
  const until = (expected: RegExp) => vi.waitFor(async () => expect(await state()).toMatch(expected), SOON)
  const run = async (request: SlurmRequest, reason?: string) => {
    const { row, items } = await actions.run(request, reason)
    return { status: row.status, items: items.map(({ target, result, after, message }) => ({ target, result, after, message })) }
  }
  const nodes = { hostlist: 'cpu-02' }
  const resume = () => run({ verb: 'RESUME_NODES', nodes })

  it('sets a node down, which ends its job, and makes it available again', LONG, async () => {
    const job = await actions.lab.slurm!.submit('sleep 600', ['--no-requeue', '--nodelist=cpu-02'])
    await vi.waitFor(
      async () => expect(await slurm('squeue', '--noheader', '--format=%T', `--jobs=${job}`)).toBe('RUNNING'),
      LONG,
    )
    const down = await run({ verb: 'DOWN_NODES', nodes: { hostlist: 'cpu-02,nosuch' } }, 'disk "a" | b')
    expect(down).toMatchObject({
      status: 'PARTIAL',
      items: [
        { target: 'cpu-02', result: 'DONE', after: expect.stringMatching(/^DOWN.*: disk "a" \| b \(muster /) },
        { target: 'nosuch', result: 'NOT_FOUND' },
      ],
    })
    expect(await slurm('squeue', '--noheader', '--states=RUNNING,PENDING', '--format=%i')).toBe('')
    expect(await resume()).toMatchObject({ status: 'SUCCEEDED' })
    await until(/\|idle\|none$/)
  })

  it.each([
    ['DOWN', /^cpu-02\|down\|"kernel" a=b \(muster /],
    ['RESUME', /^cpu-02\|idle\|/],
  ] as const)('reboots a node, whose next state is %s', LONG, async (nextState, expected) => {
    const before = await on('cpu-02', 'cat /proc/sys/kernel/random/boot_id')
    const reboot = await run({ verb: 'REBOOT_NODES', nodes, nextState }, '"kernel" a=b')
    expect(reboot).toMatchObject({ status: 'SUCCEEDED', items: [{ result: 'DONE', after: expect.stringContaining('REBOOT') }] })
    await until(expected)
    expect(await on('cpu-02', 'cat /proc/sys/kernel/random/boot_id')).not.toBe(before)
    if (nextState === 'DOWN') expect(await resume()).toMatchObject({ status: 'SUCCEEDED' })
    await until(/\|idle\|/)
  })

  // Last: right after a power up, slurmctld 22.05 may get a late response of slurmd after it has issued a reboot. It then takes the node
  // for "returned to service" and the boot for an unexpected one: the node stays DOWN+REBOOT_ISSUED.
  it('powers a node down and up', LONG, async () => {
    const down = await run({ verb: 'POWER_DOWN_NODES', nodes })
    expect(down).toMatchObject({ status: 'SUCCEEDED', items: [{ result: 'DONE', after: expect.stringContaining('POWER') }] })
    await until(/^cpu-02\|idle~/)
    await on('cpu-02', 'systemctl stop slurmd')
    expect(await run({ verb: 'POWER_DOWN_NODES', nodes })).toMatchObject({ items: [{ result: 'UNCHANGED' }] })
    const up = await run({ verb: 'POWER_UP_NODES', nodes })
    expect(up).toMatchObject({ status: 'SUCCEEDED', items: [{ result: 'DONE' }] })
    await on('cpu-02', 'systemctl start slurmd')
    await until(/\|idle\|/)
  })
})
