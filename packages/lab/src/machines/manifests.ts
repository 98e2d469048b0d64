import type { Lab } from '../types.ts'
import type { Machines } from './start-machines.ts'

export type MachinesDescription = {
  hostAddress: string
  network: Machines['network']
  kernelUrl: string
  initrdUrl: string
  machines: { name: string; mac: string; address: string; systemPath: string }[]
  /** `fingerprint`: SHA-256 of its certificate. */
  bmc: { port: number; username: string; password: string; fingerprint: string }
  manifests: object[]
}

/** Credentials in Muster to which the manifests refer: the SSH key of the lab, and the login of the BMC. */
export const MACHINE_CREDENTIALS = { key: 'lab key', bmc: 'lab BMC' } as const

/**
 * Manifests of machines for `muster apply`: a boot profile, and nodes with their BMC.
 * @param profile `assignments`: default: to these machines
 */
export function machineManifests(
  { hostAddress, kernelUrl, initrdUrl, bmc }: Omit<MachinesDescription, 'manifests'>,
  machines: MachinesDescription['machines'],
  { username, publicKey }: Lab['credentials']['sshKey'],
  profile: { kernelParams?: string[]; assignments?: object[] } = {},
): object[] {
  const manifest = (kind: string, name: string, spec: object) => ({ apiVersion: 'muster/v1', kind, metadata: { name }, spec })
  return [
    manifest('BootProfile', 'lab-machine', {
      kernel: { url: kernelUrl },
      initrds: [{ url: initrdUrl }],
      kernelParams: profile.kernelParams ?? ['console=ttyS0'],
      adminUser: username,
      sshKeys: publicKey.trim().split('\n'),
      assignments: profile.assignments ?? [{ nodes: machines.map(({ name }) => name).join(',') }],
    }),
    ...machines.map(({ name, mac, address, systemPath }) =>
      manifest('ComputeNode', name, {
        host: address,
        credential: MACHINE_CREDENTIALS.key,
        interfaces: [{ name: 'eth0', mac, isBoot: true, addresses: [{ address }] }],
        bmc: {
          ...{ address: hostAddress, port: bmc.port, credential: MACHINE_CREDENTIALS.bmc },
          ...{ fingerprint: bmc.fingerprint, systemPath },
        },
      }),
    ),
  ]
}
