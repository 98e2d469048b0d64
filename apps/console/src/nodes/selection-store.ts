/** Maximum number of IDs in a URL; longer URLs break in mail clients and servers. */
const MAX_IN_URL = 50

/**
 * Encodes a selection as a URL parameter for the next page. Selections over MAX_IN_URL are stored in this tab under a generated name,
 * so back and reload keep them.
 */
export function toNodesParam(ids: string[]): string {
  if (ids.length <= MAX_IN_URL) return ids.join(',')
  const name = `nodes-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  storeNodes(name, ids)
  return name
}

/** Decodes a parameter of `toNodesParam`; empty when another tab stored the selection. */
export function parseNodesParam(param: string): string[] {
  return param.startsWith('nodes-') ? readStoredNodes(param) : param.split(',').filter(Boolean)
}

/** Stores node IDs in this tab's session storage. */
export function storeNodes(name: string, ids: string[]): void {
  sessionStorage.setItem(name, JSON.stringify(ids))
}

/** The selection of the node list. */
export const selectedNodes = {
  read: () => readStoredNodes('selected-nodes'),
  write: (ids: string[]) => storeNodes('selected-nodes', ids),
}

export function readStoredNodes(name: string): string[] {
  const stored: unknown = JSON.parse(sessionStorage.getItem(name) ?? '[]')
  return Array.isArray(stored) ? stored.map(String) : []
}
