import { leafHash, nodeHash } from '@muster/ledger'
import { sql } from 'drizzle-orm'
import { canonicalJson } from '../kernel/canonical-json.ts'
import type { Tx } from '../kernel/context.ts'
import type { ChangedNode } from './read-changed-nodes.ts'
import { ledgerEntries, ledgerHashes, ledgerNodes } from './tables.ts'
import { hashesOf } from './tree.ts'

/**
 * Appends an entry per node to the tree of a tenant with `size` entries. The caller holds the lock of the tree.
 * @returns the new size
 */
export async function appendEntries(tx: Tx, tenantId: string, size: number, nodes: ChangedNode[]): Promise<number> {
  const records = nodes.map(({ record }) => canonicalJson(record))
  const added: { level: number; index: number; hash: Buffer }[] = []
  // The left siblings of the first leaf: with them, every new complete subtree can be computed.
  const frontier = new Map<number, Buffer>()
  const siblings = []
  for (let level = 0; 2 ** level <= size; level++)
    if (Math.floor(size / 2 ** level) % 2 === 1) siblings.push({ level, index: Math.floor(size / 2 ** level) - 1 })
  for (const [i, hash] of (await hashesOf(tx, tenantId, siblings)).entries()) frontier.set(siblings[i]!.level, hash)
  for (const [i, record] of records.entries()) {
    let [level, index, hash] = [0, size + i, leafHash(Buffer.from(record))]
    added.push({ level, index, hash })
    for (; index % 2 === 1; level++) {
      hash = nodeHash(frontier.get(level)!, hash)
      index = (index - 1) / 2
      added.push({ level: level + 1, index, hash })
    }
    frontier.set(level, hash)
  }
  const list = <T>(values: T[]) => sql.param(values)
  await tx.execute(sql`insert into ${ledgerEntries} (tenant_id, seq, node_id, node_name, record)
    select ${tenantId}, ${size} + i - 1, node_id, node_name, record
    from unnest(${list(nodes.map(({ nodeId }) => nodeId))}::uuid[], ${list(nodes.map(({ nodeName }) => nodeName))}::text[],
      ${list(records)}::text[]) with ordinality as e (node_id, node_name, record, i)`)
  await tx.execute(sql`insert into ${ledgerHashes} (tenant_id, level, index, hash)
    select ${tenantId}, * from unnest(${list(added.map(({ level }) => level))}::int[],
      ${list(added.map(({ index }) => index))}::bigint[], ${list(added.map(({ hash }) => hash))}::bytea[])`)
  await tx.execute(sql`insert into ${ledgerNodes} (node_id, tenant_id, digest, boot_epoch, sequence, seq, recorded_at)
    select node_id, ${tenantId}, digest, boot_epoch, sequence, ${size} + i - 1, now()
    from unnest(${list(nodes.map(({ nodeId }) => nodeId))}::uuid[], ${list(nodes.map(({ digest }) => digest))}::text[],
      ${list(nodes.map(({ bootEpoch }) => bootEpoch))}::bigint[], ${list(nodes.map(({ sequence }) => sequence))}::bigint[])
      with ordinality as e (node_id, digest, boot_epoch, sequence, i)
    on conflict (node_id) do update set digest = excluded.digest, boot_epoch = excluded.boot_epoch, sequence = excluded.sequence,
      seq = excluded.seq, recorded_at = excluded.recorded_at`)
  return size + nodes.length
}
