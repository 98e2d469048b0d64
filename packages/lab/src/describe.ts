import { describeMachines, type LabMachines } from './machines/lab-machines.ts'
import type { Lab } from './types.ts'

/** Returns a lab as plain data, including passwords and private keys: the output of `lab up --json`. */
export function describeLab(lab: Lab, machines: LabMachines | null = null) {
  const host = ({ name, host, port, hostKeyFingerprint, hostPublicKey }: Lab['nodes'][number] | NonNullable<Lab['bastion']>) => ({
    name,
    host,
    port,
    hostKeyFingerprint,
    hostPublicKey,
  })
  return {
    id: lab.id,
    mode: lab.mode,
    dir: lab.dir,
    nodes: lab.nodes.map((node) => ({
      ...host(node),
      profile: node.profile,
      behindBastion: node.behindBastion,
      accelerators: node.accelerators,
    })),
    bastion: lab.bastion && host(lab.bastion),
    slurm: lab.slurm && {
      controllers: lab.slurm.controllers.map(({ name }) => name),
      compute: lab.slurm.compute.map(({ name }) => name),
      programFolder: lab.slurm.programFolder,
    },
    credentials: lab.credentials,
    unavailable: lab.unavailable,
    /** Machines that boot from the network; null: the lab has none. */
    boot: machines && describeMachines(lab, machines),
  }
}

export type LabDescription = ReturnType<typeof describeLab>
