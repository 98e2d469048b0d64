import type { Login, NodeAccess } from '@muster/core/credentials/access'

/** One machine on the way to a node, or the node itself, which has no `hop`. */
export type Target = {
  hop: string | null
  /** Whose host key it is, so that the right object can approve it. */
  owner: { objectType: 'ComputeNode' | 'Credential'; objectId: string }
  host: string
  port: number
  login: Login
  /** Pinned host key, `type base64`. */
  hostKey: string | null
}

/** The machines to pass, outermost first; the last one is the node. */
export function routeTo(access: NodeAccess): [...Target[], Target] {
  const { node, hops, login } = access
  return [
    ...hops.map((hop) => ({
      hop: hop.name,
      owner: { objectType: 'Credential' as const, objectId: hop.credentialId },
      host: hop.host,
      port: hop.port,
      login: hop.login,
      hostKey: hop.hostKey,
    })),
    {
      hop: null,
      owner: { objectType: 'ComputeNode', objectId: node.id },
      host: node.host,
      port: node.port,
      login,
      hostKey: node.hostKey,
    },
  ]
}
