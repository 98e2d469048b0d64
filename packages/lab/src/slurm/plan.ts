import type { LabOptions, NodeOptions, SlurmOptions } from '../types.ts'

type Member = Required<Pick<NodeOptions, 'name' | 'behindBastion' | 'python'>>

/** The cluster of a lab. Names are those of lab nodes. */
export interface SlurmState {
  /** The nodes that run slurmctld, the primary first. */
  controllers: string[]
  /** The nodes that run slurmd. */
  compute: string[]
  accounting: boolean
  config: Record<string, string>
  prefix: string | null
  /** Folder on this machine that nodes see at the prefix. */
  folder: string | null
}

export const CONTROLLERS = ['slurm-ctl-01', 'slurm-ctl-02']

/** The nodes that a cluster needs in addition to the requested ones. */
export function controllerNodes({ slurm }: LabOptions): NodeOptions[] {
  if (!slurm) return []
  const { backup = false, behindBastion = false } = slurmOptions(slurm)
  return CONTROLLERS.slice(0, backup ? 2 : 1).map((name) => ({ name, profile: 'cpu', behindBastion }))
}

export const slurmOptions = (slurm: boolean | SlurmOptions): SlurmOptions => (typeof slurm === 'boolean' ? {} : slurm)

/** Compute nodes are the nodes in the controllers' network segment; they need Python, which starts the services. */
export function planSlurm({ slurm }: LabOptions, plan: Member[]): SlurmState | null {
  if (!slurm) return null
  const { accounting = false, behindBastion = false, config = {}, release } = slurmOptions(slurm)
  const names = (nodes: Member[]) => nodes.map(({ name }) => name)
  const isController = ({ name }: Member) => CONTROLLERS.includes(name)
  const compute = plan.filter((node) => !isController(node) && node.behindBastion === behindBastion && node.python)
  if (compute.length === 0) throw new Error('A Slurm cluster needs at least one compute node in the network of its controller.')
  return {
    controllers: names(plan.filter(isController)),
    compute: names(compute),
    accounting,
    config,
    prefix: release?.prefix ?? null,
    folder: release?.folder ?? null,
  }
}
