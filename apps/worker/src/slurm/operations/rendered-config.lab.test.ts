import { canRunSlurm, type LabSlurm } from '@muster/lab'
import { createLab } from '@muster/lab/testing'
import { addNodes, type ConfigFiles, type ConfigNode, removeNodes } from '@muster/slurm/config'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Session } from '../../ssh/exec.ts'
import type { ControllerContext } from './operation.ts'
import { tryStart } from './trial-start.ts'

const NODE = 'gpu-01'
const CONTROLLER = 'slurm-ctl-01'
const FOLDER = '/etc/slurm'

/** Runs commands on the controller's machine, as a session would. */
const trialController = async (slurm: LabSlurm): Promise<ControllerContext> => {
  const exec: Session['exec'] = async (command, { stdin = '' }) => {
    const { code, stdout, stderr } = await slurm.run(['sh', '-c', command], { input: String(stdin) })
    return { code, signal: null, stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), timedOut: false, truncated: false }
  }
  return {
    session: { exec } as Session,
    programFolder: slurm.programFolder,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  }
}

describe.runIf(canRunSlurm())('rendered files', () => {
  let slurm: LabSlurm
  let files: ConfigFiles
  beforeAll(async () => {
    const lab = await createLab({ nodes: [{ name: NODE, profile: 'h100x8' }, { name: 'cpu-01' }], slurm: true })
    slurm = lab.slurm!
    const read = async (name: string) => (await slurm.run(['cat', `${FOLDER}/${name}`])).stdout
    files = { 'slurm.conf': await read('slurm.conf'), 'gres.conf': await read('gres.conf') }
  })
  const onNode = (argv: string[], input?: string) => slurm.run(argv, { on: NODE, ...(input === undefined ? {} : { input }) })

  it('are tried by slurmctld, apart from the running one', async () => {
    const controller = await trialController(slurm)
    const state = async () => (await slurm.run(['sh', '-c', 'ls /tmp; pgrep -x slurmctld; sha256sum /etc/slurm/*.conf'])).stdout
    const before = await state()
    const tried = (changes: string, more: Partial<ConfigFiles> = {}) =>
      tryStart(controller, { ...files, ...more, 'slurm.conf': `${files['slurm.conf']}${changes}\n` }, FOLDER)
    expect(await tried('')).toEqual({ state: 'ACCEPTED', message: null })
    // Neither the quotes nor the messages of the running daemon are of the trial.
    expect(await tried('SlurmUser="root"\nSlurmctldDebug=error\nLogTimeFormat=thread_id')).toEqual({
      state: 'ACCEPTED',
      message: null,
    })
    // Our own check cannot know which plugins the host has.
    expect(await tried('MCSPlugin=mcs/nosuch')).toEqual({ state: 'REFUSED', message: expect.stringContaining('mcs/nosuch') })
    expect(await tried('PartitionName=bad Nodes=nosuch')).toMatchObject({
      state: 'REFUSED',
      message: expect.stringMatching(/nosuch/),
    })
    const switches = `SwitchName=leaf1 Nodes=${NODE}\nSwitchName=leaf2 Nodes=cpu-01\nSwitchName=muster_root Switches=leaf[1-2]\n`
    expect(await tried('TopologyPlugin=topology/tree', { 'topology.conf': switches })).toMatchObject({ state: 'ACCEPTED' })
    expect(await tried('TopologyPlugin=topology/tree', { 'topology.conf': 'SwitchNome=leaf1\n' })).toMatchObject({
      state: 'REFUSED',
      message: expect.stringContaining('SwitchNome'),
    })
    const { exec } = controller.session
    const smallTmp = `unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs /tmp && exec sh -s'`
    const full = { exec: (command, options) => exec(command === 'sh -s' ? smallTmp : command, options) } as Session
    expect(await tryStart({ ...controller, session: full }, files, FOLDER)).toEqual({
      state: 'SKIPPED',
      message: '/tmp has no 16 MiB left.',
    })
    expect(await tried('Include other.conf')).toMatchObject({ state: 'SKIPPED', message: expect.stringContaining('other.conf') })
    expect(await state()).toBe(before)
    expect((await slurm.run(['sinfo', '--noheader'])).code).toBe(0)
  })

  it('give jobs GPUs by their cores, MIG devices and shards', async () => {
    const { stdout: line } = await slurm.run(['scontrol', 'show', 'node', NODE, '-o'])
    const number = (key: string) => Number(new RegExp(`\\b${key}=(\\d+)`).exec(line)![1])
    const [sockets, perSocket] = [number('Sockets'), number('CoresPerSocket')]
    const near = (socket: number) => `${socket * perSocket}-${(socket + 1) * perSocket - 1}`
    const gpu = (index: number) => `/dev/nvidia${index}`
    const cap = (minor: number) => `/dev/nvidia-caps/nvidia-cap${minor}`
    const mig = [gpu(3), cap(12), cap(13), gpu(3), cap(21), cap(22)]
    const node: ConfigNode = {
      ...{ name: NODE, address: /\bNodeAddr=(\S+)/.exec(line)![1]!, sockets, coresPerSocket: perSocket },
      ...{ threadsPerCore: number('ThreadsPerCore'), realMemoryMiB: 100_000, features: [] },
      gres: [
        { name: 'gpu', type: 'h100', count: 1, files: [gpu(0)], cores: near(0) },
        { name: 'gpu', type: 'h100', count: 2, files: [gpu(1), gpu(2)], cores: near(1) },
        { name: 'gpu', type: '1g.10gb', count: 2, files: mig, cores: near(1) },
        { name: 'shard', type: null, count: 12, files: [gpu(0), gpu(1), gpu(2)], cores: null },
      ],
    }
    const rendered = addNodes(removeNodes(files, [NODE]), [node], ['batch'])
    await onNode([
      'sh',
      '-c',
      'mkdir -p /dev/nvidia-caps; for file; do mknod -m 666 "$file" c 1 3; done',
      'sh',
      ...new Set(node.gres.flatMap(({ files }) => files)),
    ])
    for (const on of [CONTROLLER, NODE])
      for (const [name, input] of Object.entries(rendered)) await slurm.run(['tee', `${FOLDER}/${name}`], { on, input })
    await slurm.run(['systemctl', 'restart', 'slurmctld'])
    await onNode(['systemctl', 'restart', 'slurmd'])
    const show = async () => (await slurm.run(['scontrol', 'show', 'node', NODE, '-d', '-o'])).stdout
    // S: the sockets of the cores, after slurmd has registered.
    await expect
      .poll(show, { timeout: 60_000 })
      .toMatch(/ Gres=gpu:h100:3\(S:0-1\),gpu:1g\.10gb:2\(S:1\),shard:h100:12\(S:0-1\),.* State=IDLE /)
    const ids = await Promise.all(
      ['gpu:1g.10gb:2', 'gpu:h100:2', 'shard:4'].map((gres) =>
        slurm.submit('exec sleep 600', [`--gres=${gres}`, '--mem=100', `--nodelist=${NODE}`]),
      ),
    )
    const queue = async () => (await slurm.run(['squeue', '--noheader', '--format=%i %T'])).stdout.trim().split('\n').sort()
    await expect.poll(queue, { timeout: 60_000 }).toEqual(ids.map((id) => `${id} RUNNING`).sort())
    expect(await show()).toMatch(/GresUsed=gpu:h100:2\(IDX:[^)]+\),gpu:1g\.10gb:2\(IDX:3-4\)/)
    // The jobs use all GPUs and shards.
    const waiting = await slurm.submit('exec sleep 600', ['--gres=shard:1', '--mem=100', `--nodelist=${NODE}`])
    await expect
      .poll(async () => (await slurm.run(['squeue', '--noheader', '--format=%T %r', `--jobs=${waiting}`])).stdout)
      .toBe('PENDING Resources\n')
  })
})
