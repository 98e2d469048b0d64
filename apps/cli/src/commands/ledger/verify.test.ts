import { generateKeyPairSync } from 'node:crypto'
import { createTree, leafHash, signCheckpoint, verifierKey } from '@muster/ledger'
import { describe, expect, it } from 'vitest'
import type { LedgerLine } from './read-ledger.ts'
import { verifyLedger } from './verify.ts'

const makeKey = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    text: verifierKey({ name: 'log', publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) }),
  }
}
const key = makeKey()

function exportOf(records: string[], signer = key): LedgerLine[] {
  const tree = createTree()
  for (const record of records) tree.add(leafHash(Buffer.from(record)))
  const note = signCheckpoint(
    { origin: 'log', size: records.length, root: tree.root(), time: '2026-11-24T10:00:00Z' },
    signer.privateKey,
  )
  return [
    { type: 'key', key: signer.text },
    ...records.map((record, seq): LedgerLine => ({ type: 'entry', seq, record })),
    { type: 'checkpoint', note },
  ]
}
async function* stream(lines: LedgerLine[]) {
  yield* lines
}
const noteOf = (lines: LedgerLine[]) => (lines.at(-1) as { note: string }).note
const RECORDS = ['{"a":1}', '{"a":2}', '{"ü":3}', '{}', '{"b":1}']

describe('verification', () => {
  it('accepts an unchanged ledger that continues an earlier one', async () => {
    const earlier = noteOf(exportOf(RECORDS.slice(0, 3)))
    expect(await verifyLedger(stream(exportOf(RECORDS)), [key.text], earlier)).toEqual({
      isValid: true,
      size: 5,
      signedAt: '2026-11-24T10:00:00Z',
      problems: [],
    })
  })

  it.each([
    [
      'a changed entry',
      (lines: LedgerLine[]) => lines.map((l) => (l.type === 'entry' && l.seq === 1 ? { ...l, record: '{"a":9}' } : l)),
      'root hash',
    ],
    ['a missing entry', (lines: LedgerLine[]) => lines.filter((l) => l.type !== 'entry' || l.seq !== 1), 'entry 1 is missing'],
    [
      'missing last entries',
      (lines: LedgerLine[]) => lines.filter((l) => l.type !== 'entry' || l.seq < 4),
      'covers 5 entries; 4 were read',
    ],
    ['a missing checkpoint', (lines: LedgerLine[]) => lines.slice(0, -1), 'checkpoint is missing'],
  ])('finds %s', async (_, change, problem) => {
    const { isValid, problems } = await verifyLedger(stream(change(exportOf(RECORDS))), undefined, undefined)
    expect({ isValid, problems }).toEqual({ isValid: false, problems: [expect.stringContaining(problem)] })
  })

  it('finds a rewritten ledger that is signed with the right key', async () => {
    const earlier = noteOf(exportOf(RECORDS.slice(0, 3)))
    const rewritten = exportOf(['{"a":0}', ...RECORDS.slice(1)])
    const { problems } = await verifyLedger(stream(rewritten), undefined, earlier)
    expect(problems).toEqual(['the first 3 entries are not those of the earlier checkpoint'])
    const shortened = await verifyLedger(stream(exportOf(RECORDS.slice(0, 2))), undefined, earlier)
    expect(shortened.problems).toEqual(['the earlier checkpoint has 3 entries; 2 were read'])
  })

  it('accepts a new ledger without entries', async () => {
    expect(await verifyLedger(stream([]), undefined, undefined)).toEqual({ isValid: true, size: 0, signedAt: null, problems: [] })
  })

  it('rejects a key that is not trusted, although the export names it', async () => {
    const { problems } = await verifyLedger(stream(exportOf(RECORDS, makeKey())), [key.text], undefined)
    expect(problems).toEqual(['the checkpoint: None of the given keys signed the checkpoint.'])
  })
})
