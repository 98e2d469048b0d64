import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bootServiceSettings, readDhcpConfig } from '@muster/core/boot-service'
import { loadConfig } from '@muster/core/config'
import { SYSTEM, tenantCtx } from '@muster/core/context'
import { type Ctx, type Runtime, schema } from '@muster/core/registry'
import type { LabDescription, MachinesDescription } from '@muster/lab'
import { bootUrlsOf } from './http/boot/config.ts'
import { LAB_CREDENTIALS } from './lab.ts'

const { tenants } = schema

/** The login of the BMC of lab machines. */
export const bmcCredential = ({ hostAddress, bmc: { username, password } }: MachinesDescription) => ({
  name: LAB_CREDENTIALS.bmc,
  kind: 'BMC' as const,
  username,
  password,
  allowedHosts: [hostAddress],
})

/**
 * Writes two files beside MUSTER_LAB_FILE: manifests of the lab's machines for `muster apply`, and the configuration of the dnsmasq that
 * the lab runs. Machines have their fixed addresses before they are nodes, too.
 */
export async function writeMachineFiles(
  runtime: Runtime,
  lab: LabDescription,
  env: NodeJS.ProcessEnv,
): Promise<{ count: number; manifests: string }> {
  const boot = lab.boot!
  const [tenant] = await runtime.db.select().from(tenants).orderBy(tenants.id).limit(1)
  const ctx: Ctx = tenantCtx(runtime, tenant!.id, SYSTEM)
  const folder = path.dirname(env.MUSTER_LAB_FILE!)
  const write = (name: string, text: string) => {
    const file = path.join(folder, name)
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
    return file
  }
  // JSON is YAML.
  const manifests = write('lab-machines.yaml', `${boot.manifests.map((each) => JSON.stringify(each, null, 2)).join('\n---\n')}\n`)
  const urls = bootUrlsOf(loadConfig(env, bootServiceSettings), tenant!.name)(tenant!.name)
  write('lab-dnsmasq.conf', await readDhcpConfig(ctx, { server: 'dnsmasq', ...boot.network }, urls, boot.machines))
  return { count: boot.machines.length, manifests }
}
