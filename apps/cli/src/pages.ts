/** The most that the API gives at once. */
const PAGE = 500

type Page = { first: number; after: string | null }
type Connection<T> = { edges: { node: T }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }

/**
 * The rows of a connection, asked for page after page. Says so on stderr when there are more than `wanted`.
 * @param ask for one page; nothing when what it is a part of is not there
 * @param wanted at most so many; without it all
 */
export async function rowsOf<T>(
  ask: (page: Page) => Promise<Connection<T> | null | undefined>,
  wanted = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const rows: T[] = []
  let after: string | null = null
  do {
    const page = await ask({ first: Math.min(PAGE, wanted - rows.length), after })
    rows.push(...(page?.edges.map((edge) => edge.node) ?? []))
    after = page?.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after && rows.length < wanted)
  if (after) process.stderr.write(`These are the first ${wanted}; -n takes more.\n`)
  return rows
}
