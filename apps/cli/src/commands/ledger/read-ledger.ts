import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'

/** A line of an export: a public key, an entry, or the newest checkpoint. */
export type LedgerLine =
  | { type: 'key'; key: string }
  | { type: 'entry'; seq: number; record: string }
  | { type: 'checkpoint'; note: string }

const HEAD = graphql(`query LedgerHead { ledger { verifierKeys checkpoint { size note } } }`)
const PAGE = graphql(`query LedgerPage($after: String) {
  ledgerEntries(first: 500, after: $after) { edges { node { seq record } } pageInfo { hasNextPage endCursor } }
}`)

/** Reads the whole ledger from the API: the keys, the entries of the newest checkpoint, and the checkpoint. */
export async function* downloadLedger(): AsyncGenerator<LedgerLine> {
  const { ledger } = await request(HEAD, {})
  for (const key of ledger.verifierKeys) yield { type: 'key', key }
  if (!ledger.checkpoint) return
  const { size, note } = ledger.checkpoint
  for (let after: string | null = null; ; ) {
    const { ledgerEntries }: ResultOf<typeof PAGE> = await request(PAGE, { after })
    // Entries of later batches are not part of this checkpoint.
    for (const { node } of ledgerEntries.edges) if (node.seq < size) yield { type: 'entry', ...node }
    const last = ledgerEntries.edges.at(-1)?.node.seq ?? size
    if (!ledgerEntries.pageInfo.hasNextPage || last >= size - 1) break
    after = ledgerEntries.pageInfo.endCursor
  }
  yield { type: 'checkpoint', note }
}

/** Reads an export. @throws CliError for a line that is not part of one */
export async function* readLedgerFile(path: string): AsyncGenerator<LedgerLine> {
  let number = 0
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    number++
    let parsed: LedgerLine
    try {
      parsed = JSON.parse(line) as LedgerLine
    } catch {
      throw new CliError(`${path}, line ${number}: not JSON. Choose a file of \`muster ledger export\`.`, EXIT.usage)
    }
    if (!['key', 'entry', 'checkpoint'].includes(parsed?.type))
      throw new CliError(`${path}, line ${number}: not a line of \`muster ledger export\`.`, EXIT.usage)
    yield parsed
  }
}
