import type { Credential } from '../credentials/tables.ts'
import { allowedHostsBlockedReason } from '../kernel/allowed-hosts.ts'
import { connectBlockedReason } from '../nodes/index.ts'

/** Why this credential cannot be tested on this node; null when it can. */
export function testCredentialBlockedReason(
  credential: Pick<Credential, 'name' | 'kind' | 'allowedHosts'>,
  node: Parameters<typeof connectBlockedReason>[0] & { host: string },
): string | null {
  if (credential.kind === 'GIT')
    return `The credential ${credential.name} is for Git repositories, not nodes. Test it with a run of a template that uses it.`
  if (credential.kind === 'SALT')
    return `The credential ${credential.name} is for a salt-api, not nodes. Test it with a scale-out of a cluster that uses it.`
  if (credential.kind === 'BMC')
    return `The credential ${credential.name} is for BMCs, not for SSH. Test it by reading the BMC of a node that uses it.`
  if (node.connectionType === 'local')
    return `The node ${node.name} is the worker's own machine, which is reached without a credential; choose another one.`
  return allowedHostsBlockedReason(credential, node.host) ?? connectBlockedReason(node)
}
