import { readFileSync } from 'node:fs'
import { type Checkpoint, createTree, leafHash, openCheckpoint } from '@muster/ledger'
import { Command, type Output } from '../../command.ts'
import { EXIT } from '../../errors.ts'
import { printObject } from '../../output.ts'
import { downloadLedger, type LedgerLine, readLedgerFile } from './read-ledger.ts'

type Options = Output & { file?: string; key?: string[]; since?: string }

export const ledgerVerify = () =>
  new Command('verify')
    .description('verify all entries of the ledger against its signed checkpoint; exit code 1 when they do not match')
    .option('--file <file>', 'verify an export; needs no connection')
    .option('--key <key...>', 'the only trusted public keys. Default: those that the API or the export names')
    .option('--since <file>', 'a checkpoint of an earlier time: verify that all of its entries are unchanged')
    .withOutput()
    .action(async ({ file, key, since, ...output }: Options) => {
      const earlier = since ? readFileSync(since, 'utf8') : undefined
      const result = await verifyLedger(file ? readLedgerFile(file) : downloadLedger(), key, earlier)
      printObject(result, output, [
        ['Result', result.isValid ? 'valid' : 'NOT VALID'],
        ['Entries', result.size],
        ['Signed at', result.signedAt],
        ['Keys', key ? 'given' : 'not compared: use --key with keys that you kept'],
        ...result.problems.map((problem): [string, string] => ['Problem', problem]),
      ])
      if (!result.isValid) process.exitCode = EXIT.failed
    })

/** Computes the tree of the entries and compares it with the signed roots. */
export async function verifyLedger(lines: AsyncIterable<LedgerLine>, trusted: string[] | undefined, earlier: string | undefined) {
  const problems: string[] = []
  const keys = [...(trusted ?? [])]
  const tree = createTree()
  let note: string | undefined
  let since: Checkpoint | undefined
  const openEarlier = () => {
    if (earlier && !since) since = openSigned(earlier, keys, 'the earlier checkpoint', problems)
    return since
  }
  for await (const line of lines) {
    if (line.type === 'key') {
      if (!trusted) keys.push(line.key)
    } else if (line.type === 'checkpoint') note = line.note
    else {
      if (line.seq !== tree.size()) {
        problems.push(`entry ${tree.size()} is missing: the next one is ${line.seq}`)
        break
      }
      tree.add(leafHash(Buffer.from(line.record)))
      if (openEarlier()?.size === tree.size() && !tree.root().equals(since!.root))
        problems.push(`the first ${tree.size()} entries are not those of the earlier checkpoint`)
    }
  }
  // A new ledger is empty and has no checkpoint.
  if (!note && problems.length === 0 && (tree.size() > 0 || earlier)) problems.push('the checkpoint is missing')
  const head = note ? openSigned(note, keys, 'the checkpoint', problems) : undefined
  if (head && head.size !== tree.size()) problems.push(`the checkpoint covers ${head.size} entries; ${tree.size()} were read`)
  else if (head && !tree.root().equals(head.root)) problems.push('the entries do not have the root hash of the checkpoint')
  if (since && since.size > tree.size())
    problems.push(`the earlier checkpoint has ${since.size} entries; ${tree.size()} were read`)
  if (since && head && since.origin !== head.origin) problems.push('the earlier checkpoint is of another ledger')
  return { isValid: problems.length === 0, size: tree.size(), signedAt: head?.time ?? null, problems }
}

function openSigned(note: string, keys: string[], name: string, problems: string[]): Checkpoint | undefined {
  try {
    return openCheckpoint(note, keys)
  } catch (error) {
    const problem = `${name}: ${(error as Error).message}`
    if (!problems.includes(problem)) problems.push(problem)
    return undefined
  }
}
