import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Lab, startLab, startMachineBmc, startMachines } from '@muster/lab'
import { pickPort } from '@muster/standalone'
import { type Client, connect } from '../client.ts'
import { signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'
import type { BootJobContext } from './boot-job.ts'

const MACS = ['02:00:5e:77:00:01', '02:00:5e:77:00:02']

/** Settings with which the product serves machines in the network of a lab. */
export async function bootSettings({ hostAddress }: Lab): Promise<Record<string, string>> {
  return {
    BOOT_HOST: hostAddress,
    BOOT_PORT: String(await pickPort()),
    // The network has only the lab's machines.
    BOOT_TOKENS_WITHOUT_TLS: '1',
    // The BMCs listen on this machine.
    LOCAL_TARGETS: `127.0.0.0/8,::1,${hostAddress}`,
  }
}

/** Two machines in the network of a lab, switched off, and their BMC. */
export async function startBootMachines(lab: Lab): Promise<BootJobContext> {
  const certificate = createCertificate()
  const machines = await startMachines(
    lab,
    MACS.map((mac, i) => ({ name: `machine-0${i + 1}`, mac })),
  )
  const bmc = await startMachineBmc(machines.machines, lab.hostAddress, certificate)
  return { lab, machines, bmc, certificate: certificate.cert }
}

/** The product and the machines. */
export async function startBootProduct(): Promise<BootJobContext & AsyncDisposable & { api: Client }> {
  const lab = await startLab({ nodes: [{ name: 'any' }], bastion: false })
  try {
    const [product, context] = await Promise.all([
      bootSettings(lab).then((settings) => startProduct(settings)),
      startBootMachines(lab),
    ])
    let token: string | null = null
    const api = connect(product.url, () => token)
    token = await signIn(api, product.linkToken)
    return {
      ...context,
      api,
      async [Symbol.asyncDispose]() {
        await context.bmc.close()
        await Promise.all([product.stop(), context.machines.down()])
        await lab.down()
      },
    }
  } catch (error) {
    await lab.down()
    throw error
  }
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
