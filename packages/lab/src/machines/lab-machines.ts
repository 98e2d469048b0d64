import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Lab } from '../types.ts'
import { type MachineBmc, startMachineBmc } from './bmc.ts'
import { type MachinesDescription, machineManifests } from './manifests.ts'
import { type Machines, startMachines } from './start-machines.ts'

/** Machines with their BMC. `certificate`: of the BMC, as PEM. */
export type LabMachines = { machines: Machines; bmc: MachineBmc; certificate: string }

const macOf = (i: number) => `02:00:5e:77:00:${(i + 1).toString(16).padStart(2, '0')}`

/** Machines in the network of a lab, switched off, and a BMC that switches them on and off. @throws Error as `startMachines` */
export async function startLabMachines(lab: Lab, count: number): Promise<LabMachines> {
  const certificate = createCertificate()
  const machines = await startMachines(
    lab,
    Array.from({ length: count }, (_, i) => ({ name: `machine-${String(i + 1).padStart(2, '0')}`, mac: macOf(i) })),
  )
  return { machines, bmc: await startMachineBmc(machines.machines, lab.hostAddress, certificate), certificate: certificate.cert }
}

/** Machines as plain data, with the password of their BMC and manifests for `muster apply`. */
export function describeMachines(
  { hostAddress, credentials }: Lab,
  { machines, bmc, certificate }: LabMachines,
): MachinesDescription {
  const description = {
    hostAddress,
    network: machines.network,
    kernelUrl: machines.kernelUrl,
    initrdUrl: machines.initrdUrl,
    machines: machines.machines.map((machine) => ({
      name: machine.name,
      mac: machine.mac,
      address: machine.address,
      systemPath: bmc.systemPath(machine),
    })),
    bmc: {
      port: bmc.port,
      username: bmc.username,
      password: bmc.password,
      fingerprint: new X509Certificate(certificate).fingerprint256,
    },
  }
  return { ...description, manifests: machineManifests(description, description.machines, credentials.sshKey) }
}

/** A self-signed certificate of the BMC. */
function createCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-bmc-'))
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', 'key.pem', '-out', 'cert.pem']
  try {
    execFileSync('openssl', ['req', '-x509', ...curve, '-days', '2', '-subj', '/CN=bmc.test', ...files], {
      cwd: folder,
      stdio: 'ignore',
    })
    const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')
    return { key: read('key.pem'), cert: read('cert.pem') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
