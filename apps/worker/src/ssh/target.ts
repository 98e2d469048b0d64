import type { Login, NodeAccess } from '@muster/core/credentials/access'

/** A bastion on the route to a node, or the node itself with `hop` null. */
export type Target = {
  hop: string | null
  /** The object that stores the host key and its approval. */
  owner: { objectType: 'ComputeNode' | 'Credential'; objectId: string }
  host: string
  port: number
  login: Login
  /** Pinned host key, `type base64`. */
  hostKey: string | null
}

/** The route to a node: bastions from the outermost, then the node. */
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
