const KEY = 'connection-tests'
const FRESH_MS = 60_000

type StoredTests = { nodes: string; tests: string[]; at: number }

/** Stores the tests started for these nodes, for a reload of the page. */
export function storeTests(nodeIds: string[], tests: string[]): void {
  const stored: StoredTests = { nodes: nodeIds.join(), tests, at: Date.now() }
  sessionStorage.setItem(KEY, JSON.stringify(stored))
}

/** The tests of exactly these nodes from the last minute. */
export function readRecentTests(nodeIds: string[]): string[] {
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? 'null') as StoredTests | null
  return stored && stored.nodes === nodeIds.join() && Date.now() - stored.at < FRESH_MS ? stored.tests : []
}
