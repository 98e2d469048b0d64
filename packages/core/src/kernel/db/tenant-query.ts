import type { PoolClient, QueryConfig } from 'pg'
import pg from 'pg'

/** The setting that the policies of all tables compare with; unset, a statement sees no rows. */
export const TENANT_SETTING = 'muster.tenant_id'

const STATEMENT = 'muster_tenant'
const SET_TENANT = `select set_config('${TENANT_SETTING}', $1, true)`
const TENANT = Symbol('tenant')

type Message = { fields?: unknown[] }
type Connection = {
  parsedStatements: Record<string, string>
  parse(message: { name: string; text: string }): void
  bind(message: { statement: string; values: string[] }): void
  execute(message: { portal: string; rows: number }): void
}
/** The parts of pg's Query that @types/pg omits. */
declare class BaseQuery {
  name: string | undefined
  constructor(config: object)
  prepare(connection: Connection): void
  handleDataRow(message: Message): void
  handleCommandComplete(message: Message, connection: Connection): void
}
const Query = pg.Query as unknown as typeof BaseQuery

/**
 * A statement that runs in a tenant. Sends the setting and the statement in one message sequence, which Postgres runs as one
 * transaction: the setting costs no round trip and ends with the statement. Handwritten because pg has no option for it.
 */
class TenantQuery extends Query {
  readonly #tenantId: string
  #isTenantSet = false

  constructor(config: object, tenantId: string) {
    super({ ...config, queryMode: 'extended' })
    this.#tenantId = tenantId
  }
  override prepare(connection: Connection): void {
    if (!connection.parsedStatements[STATEMENT]) {
      connection.parse({ name: STATEMENT, text: SET_TENANT })
      // pg would take the confirmation of this statement for that of a named one.
      this.name = undefined
    }
    connection.bind({ statement: STATEMENT, values: [this.#tenantId] })
    connection.execute({ portal: '', rows: 0 })
    super.prepare(connection)
  }
  override handleDataRow(message: Message): void {
    if (this.#isTenantSet) super.handleDataRow(message)
  }
  override handleCommandComplete(message: Message, connection: Connection): void {
    if (this.#isTenantSet) super.handleCommandComplete(message, connection)
    else {
      connection.parsedStatements[STATEMENT] = SET_TENANT
      this.#isTenantSet = true
    }
  }
}

/** The statement `config`, to run in a tenant on a client of `supportTenants`. */
export const inTenant = (config: string | QueryConfig, tenantId: string): QueryConfig =>
  Object.assign(typeof config === 'string' ? { text: config } : { ...config }, { [TENANT]: tenantId })

/** Lets a new client run statements of `inTenant`. */
export function supportTenants(client: PoolClient): void {
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
  client.query = ((config: QueryConfig & { [TENANT]?: string }, ...rest: unknown[]) => {
    const tenantId = typeof config === 'object' ? config[TENANT] : undefined
    if (tenantId === undefined) return query(config, ...rest)
    const callback = rest.at(-1)
    const values = Array.isArray(rest[0]) ? { values: rest[0] } : {}
    const statement = new TenantQuery({ ...config, ...values }, tenantId)
    if (typeof callback === 'function') return query(statement, callback)
    return new Promise((resolve, reject) => {
      query(statement, (error: Error | null, result: unknown) => (error ? reject(error) : resolve(result)))
    })
  }) as PoolClient['query']
}
