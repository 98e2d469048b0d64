/** As many ids as fit well into an address that is mailed to someone, or sent to a server by a reload. */
const MAX_IN_URL = 50

/**
 * Nodes as the value of a URL's parameter, for acting on the next page upon what was chosen on this one. Too many for a URL are kept in
 * this tab under a name of their own, so that back and reload find them.
 */
export function nodesParam(ids: string[]): string {
  if (ids.length <= MAX_IN_URL) return ids.join(',')
  const name = `kept-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  keepNodes(name, ids)
  return name
}

/** The nodes of such a parameter; none when it was made in another tab. */
export function nodesOf(param: string): string[] {
  return param.startsWith('kept-') ? keptNodes(param) : param.split(',').filter(Boolean)
}

/** Keep nodes in this tab under a name, until it is closed. */
export function keepNodes(name: string, ids: string[]): void {
  sessionStorage.setItem(name, JSON.stringify(ids))
}

/** The nodes that are chosen in their list. */
export const selectedNodes = {
  read: () => keptNodes('selected-nodes'),
  write: (ids: string[]) => keepNodes('selected-nodes', ids),
}

export function keptNodes(name: string): string[] {
  const stored: unknown = JSON.parse(sessionStorage.getItem(name) ?? '[]')
  return Array.isArray(stored) ? stored.map(String) : []
}
