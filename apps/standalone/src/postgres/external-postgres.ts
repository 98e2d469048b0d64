import pg from 'pg'

/** Returns the server version of an external Postgres. Throws when it is unreachable or older than 15; errors show host and port only. */
export async function checkDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  const where = `${client.host}:${client.port}`
  try {
    await client.connect()
  } catch (error) {
    throw new Error(
      `Cannot connect to Postgres at ${where} (DATABASE_URL): ${(error as Error).message}. Correct DATABASE_URL, or unset it to use the embedded Postgres.`,
    )
  }
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    const version = rows[0]!.server_version
    if (Number.parseInt(version, 10) < 15)
      throw new Error(`Postgres at ${where} (DATABASE_URL) is version ${version}. Muster requires 15 or newer.`)
    return version
  } finally {
    await client.end()
  }
}
