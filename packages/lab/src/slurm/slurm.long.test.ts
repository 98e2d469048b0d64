import { describe, expect, it } from 'vitest'
import { createLab } from '../testing.ts'
import { canRunSlurm } from './programs.ts'

describe.runIf(canRunSlurm())('a Slurm cluster with a database and a backup controller', () => {
  it('records jobs, and the backup takes over', async () => {
    const lab = await createLab({ nodes: 2, slurm: { backup: true, accounting: true, behindBastion: true } })
    const { run, submit, controllers } = lab.slurm!
    expect(controllers.every(({ behindBastion }) => behindBastion)).toBe(true)
    const id = await submit('true')
    await expect
      .poll(async () => (await run(['sacct', '--allusers', '--noheader', '--parsable2', '--format=JobID,State'])).stdout)
      .toContain(`${id}|COMPLETED`)
    const lasting = await submit('sleep 600')
    await expect.poll(async () => (await run(['squeue', '--noheader', '--format=%T'])).stdout).toBe('RUNNING\n')
    const controller = 'slurm-ctl-01'
    const whole = (await run(['squeue'])).stdout
    await lab.fault(controller, 'truncated-output', { tool: 'squeue' })
    expect((await run(['squeue'])).stdout).toBe(whole.slice(0, whole.length / 2))
    await lab.fault(controller, 'clock-skew', { seconds: 600 })
    const ahead = Number((await run(['date', '+%s'])).stdout) - Date.now() / 1000
    expect(Math.abs(ahead - 600)).toBeLessThan(60)
    await lab.heal(controller)
    expect((await run(['squeue'])).stdout).toContain('batch')
    await lab.fault(controller, 'controller-freeze')
    expect(await run(['sinfo'])).toMatchObject({ code: 1, stderr: expect.stringMatching(/Socket timed out/) })
    await lab.heal(controller)

    await lab.fault(controller, 'controller-stop')
    const onBackup = (argv: string[]) => run(argv, { on: 'slurm-ctl-02' })
    await expect
      .poll(async () => (await onBackup(['squeue', '--noheader', '--format=%i %T'])).stdout)
      .toBe(`${lasting} RUNNING\n`)
  })
})
