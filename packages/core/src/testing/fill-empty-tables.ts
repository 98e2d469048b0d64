import pg from 'pg'

type Column = { name: string; type: string; default: string | null; references: string | null; values: string[] | null }

/**
 * Inserts one row into each empty table of the schema `public`, with a value by type in each required column. For tables that
 * only rare events fill.
 * @param url that of the owner
 * @returns the tables that it could not fill, with the reason
 */
export async function fillEmptyTables(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const problems = new Map<string, string>()
    // A table may refer to one that is filled later in the same pass.
    for (let pass = 0; pass < 3; pass++) {
      problems.clear()
      for (const table of await emptyTables(client)) {
        const reason = await insertRow(client, table)
        if (reason) problems.set(table, reason)
      }
      if (problems.size === 0) break
    }
    return [...problems].map(([table, reason]) => `${table}: ${reason}`)
  } finally {
    await client.end()
  }
}

async function emptyTables(client: pg.Client): Promise<string[]> {
  // Partitions are filled through their parent.
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  const empty: string[] = []
  for (const { name } of rows)
    if (!(await client.query(`select 1 from ${pg.escapeIdentifier(name)} limit 1`)).rowCount) empty.push(name)
  return empty
}

async function insertRow(client: pg.Client, table: string): Promise<string | null> {
  const { rows: columns } = await client.query<Column>(
    `select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, pg_get_expr(d.adbin, d.adrelid) as default,
        (select format('select %I from %I.%I limit 1', f.attname, n.nspname, r.relname)
           from pg_constraint c join pg_class r on r.oid = c.confrelid join pg_namespace n on n.oid = r.relnamespace
           join pg_attribute f on f.attrelid = c.confrelid and f.attnum = c.confkey[array_position(c.conkey, a.attnum)]
          where c.conrelid = a.attrelid and c.contype = 'f' and a.attnum = any(c.conkey) order by cardinality(c.conkey) limit 1) as references,
        (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_enum e where e.enumtypid = a.atttypid) as values
       from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped and a.attnotnull and a.attgenerated = '' and a.attidentity = ''`,
    [pg.escapeIdentifier(table)],
  )
  const required = columns.filter((column) => column.default === null)
  const names = required.map(({ name }) => pg.escapeIdentifier(name)).join(', ')
  const into = required.length ? `(${names}) values (${required.map(literalFor).join(', ')})` : 'default values'
  return await client.query(`insert into ${pg.escapeIdentifier(table)} ${into}`).then(
    () => null,
    (error: Error) => error.message,
  )
}

function literalFor({ type, references, values }: Column): string {
  if (references) return `(${references})`
  if (values) return pg.escapeLiteral(values[0]!)
  if (type === 'uuid') return 'gen_random_uuid()'
  if (type.endsWith('[]')) return `'{}'`
  if (type.startsWith('timestamp') || type === 'date') return 'now()'
  if (type === 'boolean') return 'false'
  if (/^(integer|bigint|smallint|numeric|real|double)/.test(type)) return '1'
  if (type.startsWith('json')) return `'{}'`
  if (type === 'bytea') return `'\\x00'`
  if (type === 'inet' || type === 'cidr') return `'10.0.0.1'`
  return `'of the release'`
}
