/** A record keeps its key version in one byte. */
const MAX_KEY_VERSION = 255

/** Why a credential cannot be deleted, given who uses it; null when nobody does. */
export function whyNotDelete(credential: { name: string }, users: { nodes: string; bastions: string[] }): string | null {
  const by = [
    ...(users.nodes ? [`the nodes ${users.nodes}`] : []),
    ...(users.bastions.length > 0 ? [`the bastions ${users.bastions.join(', ')}`] : []),
  ]
  return by.length === 0 ? null : `The credential ${credential.name} is used by ${by.join(' and ')}; give them another one first.`
}

/** Why no new key can be made yet, given how far the last rotation is; null when one can. */
export function whyNotRotate(key: { version: number; left: number }): string | null {
  if (key.left > 0) return `The rotation to key version ${key.version} is still going on: ${key.left} left; wait for its end.`
  return key.version >= MAX_KEY_VERSION ? `Version ${key.version} is the last one that a record can name.` : null
}

/** Why a secret store cannot be deleted, given the credentials that use it; null when none does. */
export function whyNotDeleteStore(store: { name: string }, users: string[]): string | null {
  return users.length === 0
    ? null
    : `The secret store ${store.name} is used by ${users.join(', ')}; give them their secrets otherwise first.`
}
