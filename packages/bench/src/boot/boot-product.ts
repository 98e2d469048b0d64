import { type Lab, startLab, startLabMachines } from '@muster/lab'
import { pickPort } from '@muster/standalone'
import { type Client, connect } from '../client.ts'
import { signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'
import type { BootJobContext } from './boot-job.ts'

const MACHINES = 2

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
export const startBootMachines = async (lab: Lab): Promise<BootJobContext> => ({
  lab,
  ...(await startLabMachines(lab, MACHINES)),
})

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
