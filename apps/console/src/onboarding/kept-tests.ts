const KEY = 'connection-tests'
const FRESH_MS = 60_000

type Kept = { nodes: string; tests: string[]; at: number }

/** Remember in this tab which tests were started for these nodes, for a reload of the page. */
export function keepTests(nodeIds: string[], tests: string[]): void {
  const kept: Kept = { nodes: nodeIds.join(), tests, at: Date.now() }
  sessionStorage.setItem(KEY, JSON.stringify(kept))
}

/** The tests of just these nodes that were started within the last minute; none when they are older or there were none. */
export function freshTests(nodeIds: string[]): string[] {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as Kept | null
  return kept && kept.nodes === nodeIds.join() && Date.now() - kept.at < FRESH_MS ? kept.tests : []
}
