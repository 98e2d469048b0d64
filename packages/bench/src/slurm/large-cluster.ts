import { type Lab, startLab } from '@muster/lab'

const ARRAYS = 10
/** Nodes of a job that runs: 1 to this number. */
const MAX_JOB_NODES = 8
const CPUS = 64

export type LargeCluster = {
  lab: Lab
  /** Number of nodes, with those that run slurmd. */
  nodes: number
  /** Counts what squeue prints. */
  countJobs(): Promise<number>
  /** Drains some nodes, resumes those drained before, and changes the priority of some jobs. @returns the number of drained nodes */
  change(): Promise<number>
  /** CPU seconds of all processes on the controller so far: of slurmctld, and of what its clients run there. */
  cpu(): Promise<{ slurmctld: number; host: number }>
  /** Runs a script on the controller. @throws Error when it fails */
  sh(script: string, input?: string): Promise<string>
}

/**
 * Starts a lab with a real slurmctld that has many nodes and jobs. One slurmd answers for all nodes; the others exist in slurm.conf
 * only. Most jobs are pending tasks of arrays, each with its own record because its priority was changed; the others are allocations
 * without a process, so they run without slurmd.
 */
export async function startLargeCluster(
  { nodes, jobs, running }: { nodes: number; jobs: number; running: number },
  random: () => number,
): Promise<LargeCluster> {
  const tasks = Math.ceil((jobs - running) / ARRAYS)
  const lab = await startLab({
    nodes: [{ name: 'cpu-01' }],
    bastion: false,
    slurm: {
      config: {
        MaxJobCount: String(2 * jobs),
        MaxArraySize: String(tasks + 1),
        // slurmctld asks each node itself, at its start only. A slurmd answers for all of them.
        SlurmdTimeout: '0',
        TreeWidth: '65533',
        MessageTimeout: '30',
        // Other nodes than the lab's have no copy of this configuration.
        DebugFlags: 'NO_CONF_HASH',
      },
    },
  })
  const slurm = lab.slurm!
  async function sh(script: string, input?: string): Promise<string> {
    const { code, stdout, stderr } = await slurm.run(['sh', '-ec', script], input === undefined ? {} : { input })
    if (code !== 0) throw new Error(`${script.slice(0, 100)}: ${stderr || stdout}`)
    return stdout
  }
  const pick = (count: number) => Math.floor(random() * count)
  const nodeName = () => `n${String(1 + pick(nodes - 1)).padStart(5, '0')}`
  const taskName = () => `${arrays[pick(ARRAYS)]}_${pick(tasks)}`
  const arrays: string[] = []
  let drained = new Set<string>()
  try {
    await slurm.ready()
    const last = String(nodes - 1).padStart(5, '0')
    const names = `n[00001-${last}]`
    await sh('systemctl stop slurmctld && cat >> /etc/slurm/gres.conf', `NodeName=${names} Name=gpu Type=h100 Count=8\n`)
    await sh(
      'cat >> /etc/slurm/slurm.conf && systemctl start slurmctld && until scontrol ping | grep -q UP; do sleep 0.1; done',
      [
        `NodeName=${names} NodeAddr=${lab.node('cpu-01').host} CPUs=${CPUS} Sockets=2 CoresPerSocket=${CPUS / 2} RealMemory=512000 Gres=gpu:h100:8 State=IDLE`,
        `PartitionName=large Nodes=${names} MaxTime=7-00:00:00 DefaultTime=01:00:00 State=UP`,
        '',
      ].join('\n'),
    )
    const sizes = Array.from({ length: running }, () => 1 + pick(MAX_JOB_NODES))
    await sh(
      'xargs -P 2 -I SIZE salloc --no-shell --quiet --immediate=10 --partition=large --nodes=SIZE --gres=gpu:h100:4 --time=600',
      sizes.join('\n'),
    )
    for (let i = 0; i < ARRAYS; i++) {
      const resources = ['--partition=large', `--gres=gpu:h100:${1 + (i % 8)}`]
      const options = [`--array=0-${tasks - 1}`, `--job-name=train-${i}`, '--begin=now+10hours', ...resources]
      arrays.push(await slurm.submit('true', options))
    }
    const updates = arrays.flatMap((id) =>
      Array.from({ length: tasks }, (_, task) => `update jobid=${id}_${task} priority=${pick(1e6) + 1}`),
    )
    await scontrol(updates)
  } catch (error) {
    await lab.down()
    throw error
  }
  async function scontrol(commands: string[]): Promise<void> {
    // Interactive mode: one process for all commands. It prints a prompt, and the problem of each command that failed.
    const output = (await sh('scontrol 2>&1', `${commands.join('\n')}\n`)).replaceAll('scontrol: ', '').trim()
    if (output.replace(/update jobid=\S+ priority=\d+|update nodename=\S+ .*/g, '').trim() !== '')
      throw new Error(`scontrol: ${output.slice(0, 500)}`)
  }
  return {
    lab,
    nodes,
    sh,
    countJobs: async () => Number(await sh('squeue --all --states=all --noheader --format=%i | wc -l')),
    async change() {
      const next = new Set(Array.from({ length: Math.ceil(nodes / 200) }, nodeName))
      await scontrol([
        ...[...drained].map((name) => `update nodename=${name} state=resume`),
        ...[...next].map((name) => `update nodename=${name} state=drain reason=bench`),
        ...Array.from({ length: Math.ceil(jobs / 100) }, () => `update jobid=${taskName()} priority=${pick(1e6) + 1}`),
      ])
      drained = next
      return drained.size
    },
    async cpu() {
      const stats = (await sh('cat /proc/[0-9]*/stat 2>/dev/null || true')).trim().split('\n')
      const used = stats.map((line) => {
        const name = line.slice(line.indexOf('(') + 1, line.lastIndexOf(')'))
        const times = line
          .slice(line.lastIndexOf(')') + 2)
          .split(' ')
          .slice(11, 15)
        return { name, seconds: times.reduce((sum, ticks) => sum + Number(ticks), 0) / 100 }
      })
      const sum = (list: typeof used) => list.reduce((total, { seconds }) => total + seconds, 0)
      return { slurmctld: sum(used.filter(({ name }) => name === 'slurmctld')), host: sum(used) }
    },
  }
}
