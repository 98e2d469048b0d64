import type { Lab } from './types.ts'

/** A lab as plain data: what `lab up --json` prints, passwords and private keys included. */
export function describeLab(lab: Lab) {
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
    credentials: lab.credentials,
    unavailable: lab.unavailable,
  }
}

export type LabDescription = ReturnType<typeof describeLab>
