import { bootProfiles } from '../../boot-profiles/tables.ts'
import { credentials, secretStores } from '../../credentials/tables.ts'
import { nodeGroups } from '../../groups/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { computeNodes } from '../../nodes/tables.ts'

const TABLES = {
  ComputeNode: { table: computeNodes, what: 'node' },
  NodeGroup: { table: nodeGroups, what: 'group' },
  Credential: { table: credentials, what: 'credential' },
  SecretStore: { table: secretStores, what: 'secret store' },
  BootProfile: { table: bootProfiles, what: 'boot profile' },
} as const
export type Referable = keyof typeof TABLES
export const isReferable = (kind: string): kind is Referable => kind in TABLES

type Names = { ids: Map<string, string>; names: Map<string, string> }

/** Names and IDs of the tenant's objects; each kind is read once. */
export class Lookup {
  private readonly known = new Map<Referable, Names>()
  private readonly tx: Tx
  private readonly ctx: Ctx

  constructor(tx: Tx, ctx: Ctx) {
    this.tx = tx
    this.ctx = ctx
  }

  private async of(kind: Referable): Promise<Names> {
    const known = this.known.get(kind)
    if (known) return known
    const { table } = TABLES[kind]
    const rows = await this.tx.select({ id: table.id, name: table.name }).from(table).where(visibleTo(this.ctx, table))
    const names = {
      ids: new Map(rows.map(({ id, name }) => [name, id])),
      names: new Map(rows.map(({ id, name }) => [id, name])),
    }
    this.known.set(kind, names)
    return names
  }

  /** Remembers a new object. */
  add(kind: Referable, name: string, id: string): void {
    const names = this.known.get(kind)
    names?.ids.set(name, id)
    names?.names.set(id, name)
  }

  async name(kind: Referable, id: string | null): Promise<string | null> {
    return id === null ? null : ((await this.of(kind)).names.get(id) ?? null)
  }

  async find(kind: Referable, name: string): Promise<string | undefined> {
    return (await this.of(kind)).ids.get(name)
  }

  /** @throws InvalidInput at `path` */
  async id(kind: Referable, name: string, path: string): Promise<string> {
    const id = await this.find(kind, name)
    if (id) return id
    const message = `there is no ${TABLES[kind].what} named ${name.slice(0, 100)}; create it, or add it to the manifests`
    throw new InvalidInput([{ path, message }])
  }
}
