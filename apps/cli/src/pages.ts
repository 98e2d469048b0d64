/** Page size limit of the API. */
const PAGE = 500

type Page = { first: number; after: string | null }
type Connection<T> = { edges: { node: T }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }

/**
 * Fetches the rows of a connection page by page. Prints a note on stderr when there are more than `limit`.
 * @param fetchPage returns null when the parent object does not exist
 */
export async function fetchAll<T>(
  fetchPage: (page: Page) => Promise<Connection<T> | null | undefined>,
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const rows: T[] = []
  let after: string | null = null
  do {
    const page = await fetchPage({ first: Math.min(PAGE, limit - rows.length), after })
    rows.push(...(page?.edges.map((edge) => edge.node) ?? []))
    after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after && rows.length < limit)
  if (after) process.stderr.write(`Only the first ${limit} are shown. Use -n for more.\n`)
  return rows
}
