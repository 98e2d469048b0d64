import { describe, expect, it } from 'vitest'
import { createLab } from '../testing.ts'
import { canRunSlurm } from './programs.ts'

describe.runIf(canRunSlurm())('a Slurm cluster', () => {
  it('runs jobs with GPUs, and recovers from faults', async () => {
    const lab = await createLab({
      nodes: [{ name: 'gpu-01', profile: 'h100x8' }, { name: 'cpu-01' }],
      slurm: { config: { SlurmdTimeout: '60' } },
    })
    const { run, submit } = lab.slurm!
    const sinfo = async () =>
      (await run(['sinfo', '--noheader', '--Node', '--format=%N %T %G %P'])).stdout.trim().split('\n').sort()
    expect(await sinfo()).toEqual(['cpu-01 idle (null) batch*', 'gpu-01 idle gpu:h100:8 batch*', 'gpu-01 idle gpu:h100:8 gpu'])

    const result = '/tmp/devices'
    const script = `echo "$CUDA_VISIBLE_DEVICES on $(hostname) as $(id -un)" > ${result}.new; mv ${result}.new ${result}; exec sleep 600`
    const id = await submit(script, ['--gres=gpu:h100:2'])
    await expect.poll(async () => (await lab.node('gpu-01').exec(['cat', result])).stdout).toBe('0,1 on gpu-01 as ops\n')
    const queue = async () => (await run(['squeue', '--noheader', '--format=%i %T %u'])).stdout
    expect(await queue()).toBe(`${id} RUNNING ops\n`)

    const controller = 'slurm-ctl-01'
    for (const [fault, message] of [['controller-stop', /Unable to contact slurm controller/]] as const) {
      await lab.fault(controller, fault)
      expect(await run(['sinfo'])).toMatchObject({ code: 1, stderr: expect.stringMatching(message) })
      await lab.heal(controller)
      await expect.poll(queue).toBe(`${id} RUNNING ops\n`)
    }

    await lab.fault('cpu-01', 'wrong-munge-key')
    expect(await run(['sinfo'], { on: 'cpu-01' })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Zero Bytes|authentication/),
    })
    await lab.heal('cpu-01')
    expect(await run(['sinfo'], { on: 'cpu-01' })).toMatchObject({ code: 0 })
  })
})

it('rejects a cluster without compute nodes', async () => {
  await expect(createLab({ nodes: [{ name: 'hidden', behindBastion: true }], slurm: true })).rejects.toThrow(
    'A Slurm cluster needs at least one compute node',
  )
})
