const CACHE_MS = 2000

/** Returns the text of a registry of prom-client. Reads within two seconds share one result, because metrics are read from the database. */
export function cachedMetrics(registry: { metrics(): Promise<string> }, now = () => performance.now()): () => Promise<string> {
  let cached: { text: Promise<string>; until: number } | undefined
  return () => {
    if (cached && now() < cached.until) return cached.text
    const fresh = { text: registry.metrics(), until: now() + CACHE_MS }
    cached = fresh
    fresh.text.catch(() => {
      if (cached === fresh) cached = undefined
    })
    return fresh.text
  }
}
