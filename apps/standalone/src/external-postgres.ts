import pg from 'pg'

/** Refuse a Postgres of the user's own that cannot be reached or is older than 15. Nothing of the URL but host and port is shown. */
export async function checkDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  const where = `${client.host}:${client.port}`
  try {
    await client.connect()
  } catch (error) {
    throw new Error(
      `Postgres at ${where}, from DATABASE_URL, cannot be used: ${(error as Error).message}. Correct DATABASE_URL, or unset it to use the Postgres that comes with Muster.`,
    )
  }
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    const version = rows[0]!.server_version
    if (Number.parseInt(version, 10) < 15)
      throw new Error(`Postgres at ${where}, from DATABASE_URL, is version ${version}. Muster needs 15 or newer.`)
    return version
  } finally {
    await client.end()
  }
}
