import { readFileSync } from 'node:fs'
import { rackAddress } from './namespaces/network.ts'
import type { Lab } from './types.ts'

/**
 * Lets the nodes behind the bastion reach a server of this machine, which has to listen on `lab.hostAddress`: the bastion carries
 * their connections, as long as the lab lasts.
 * @returns the server's URL as those nodes have to say it
 */
export async function relayIntoRack(lab: Lab, url: string): Promise<string> {
  if (!lab.bastion) throw new Error(`Lab ${lab.id} has no bastion that could relay.`)
  const relay = readFileSync(new URL('namespaces/relay.py', import.meta.url), 'utf8')
  const inside = rackAddress(lab.hostAddress)
  const to = new URL(url)
  const { code, stdout, stderr } = await lab.bastion.exec(['python3', '-c', relay, inside, to.hostname, to.port])
  if (code !== 0) throw new Error(`The bastion of lab ${lab.id} cannot relay: ${stderr.trim()}`)
  to.host = `${inside}:${stdout.trim()}`
  return to.href.replace(/\/$/, '')
}
