import { readFileSync } from 'node:fs'
import { rackAddress } from './namespaces/network.ts'
import type { Lab } from './types.ts'

/**
 * Lets nodes behind the bastion reach a server on this machine that listens on `lab.hostAddress`. The bastion relays their
 * connections while the lab runs.
 * @returns the server's URL for those nodes
 */
export async function relayToRack(lab: Lab, url: string): Promise<string> {
  if (!lab.bastion) throw new Error(`Lab ${lab.id} has no bastion to relay connections.`)
  const relay = readFileSync(new URL('namespaces/relay.py', import.meta.url), 'utf8')
  const inside = rackAddress(lab.hostAddress)
  const to = new URL(url)
  const { code, stdout, stderr } = await lab.bastion.exec(['python3', '-c', relay, inside, to.hostname, to.port])
  if (code !== 0) throw new Error(`The relay on the bastion of lab ${lab.id} failed: ${stderr.trim()}`)
  to.host = `${inside}:${stdout.trim()}`
  return to.href.replace(/\/$/, '')
}
