/** Why a credential cannot be deleted, given who uses it; null when nobody does. */
export function whyNotDelete(credential: { name: string }, users: { nodes: string; bastions: string[] }): string | null {
  const by = [
    ...(users.nodes ? [`the nodes ${users.nodes}`] : []),
    ...(users.bastions.length > 0 ? [`the bastions ${users.bastions.join(', ')}`] : []),
  ]
  return by.length === 0 ? null : `The credential ${credential.name} is used by ${by.join(' and ')}; give them another one first.`
}
