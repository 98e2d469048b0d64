const key = 'chosen-nodes'

/** Nodes chosen on one page and acted upon on the next: too many for a URL, kept for this tab. */
export function rememberNodes(ids: string[]): void {
  sessionStorage.setItem(key, JSON.stringify(ids))
}

export function rememberedNodes(): string[] {
  const stored: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]')
  return Array.isArray(stored) ? stored.map(String) : []
}
