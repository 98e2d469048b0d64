import type { Credential, SecretField } from './tables.ts'

/** A record stores its key version in one byte. */
const MAX_KEY_VERSION = 255

/** Why a credential with these users cannot be deleted; null when it can. */
export function deleteBlockedReason(
  credential: { name: string },
  users: { nodes: string; bastions: string[]; templates: string[]; clusters: string[]; openRuns: number; isRotating: boolean },
): string | null {
  const by = [
    ...(users.nodes ? [`the nodes ${users.nodes}`] : []),
    ...(users.bastions.length > 0 ? [`the bastions ${users.bastions.join(', ')}`] : []),
    ...(users.templates.length > 0 ? [`the job templates ${users.templates.join(', ')}`] : []),
    ...(users.clusters.length > 0 ? [`the clusters ${users.clusters.join(', ')}`] : []),
  ]
  if (by.length > 0) return `The credential ${credential.name} is used by ${by.join(' and ')}; assign another one first.`
  if (users.isRotating)
    return `A rotation of ${credential.name} is in progress, which has the new secret of nodes. Wait for its end, or cancel it.`
  if (users.openRuns === 0) return null
  return `The credential ${credential.name} is in use by ${users.openRuns} unfinished ${users.openRuns === 1 ? 'run' : 'runs'}; wait for the end, or cancel first.`
}

/**
 * Why a credential cannot open the repository at `url`; null when it can. It is sent only to its own host and port, even when a
 * template has another address.
 */
export function repositoryBlockedReason(
  credential: Pick<Credential, 'name' | 'kind' | 'host' | 'port' | 'hostKey' | 'encrypted' | 'secretRefs'>,
  url: string,
): string | null {
  const { name, kind, host, port } = credential
  if (kind !== 'GIT') return `The credential ${name} has the kind ${kind}; choose one of the kind GIT.`
  const { protocol, hostname: inUrl, port: given } = new URL(url)
  const hostname = inUrl.replace(/^\[|\]$/g, '')
  const usual = protocol === 'ssh:' ? 22 : 443
  if (hostname.toLowerCase() !== host?.toLowerCase() || Number(given || usual) !== (port ?? usual))
    return `The credential ${name} is for ${host}${port ? `:${port}` : ''} and not for ${hostname}${given ? `:${given}` : ''}; choose another one.`
  const field: SecretField = protocol === 'ssh:' ? 'privateKey' : 'password'
  if (!credential.encrypted[field] && !credential.secretRefs[field])
    return `The credential ${name} has no ${field === 'privateKey' ? 'private key' : 'password or token'}, which ${protocol}// requires; add it.`
  return protocol === 'ssh:' && !credential.hostKey
    ? `The credential ${name} has no host key; add the host key of ${host}.`
    : null
}

/** Why no new key can be created yet; null when one can. Depends on the progress of the last rotation. */
export function rotateBlockedReason(key: { version: number; left: number }): string | null {
  if (key.left > 0)
    return `The rotation to key version ${key.version} is in progress: ${key.left} records left; wait for its end.`
  return key.version >= MAX_KEY_VERSION
    ? `Version ${key.version} is the highest key version; no other rotation is possible.`
    : null
}

/** Why a secret store cannot be deleted, given the credentials that use it; null when it can. */
export function deleteStoreBlockedReason(store: { name: string }, users: string[]): string | null {
  return users.length === 0
    ? null
    : `The secret store ${store.name} is used by ${users.join(', ')}; change the source of their secrets first.`
}
