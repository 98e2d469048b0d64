import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { printObject } from '../../output.ts'

const VERIFY =
  graphql(`query AuditVerify($afterSeq: BigInt, $expectedSeq: BigInt, $expectedHash: String, $ofInstallation: Boolean) {
  auditChain(afterSeq: $afterSeq, expectedSeq: $expectedSeq, expectedHash: $expectedHash, ofInstallation: $ofInstallation) {
    afterSeq lastSeq lastHash checkedCount hasMore unsealedCount oldestUnsealedAt
    problems { kind firstSeq lastSeq entryId }
  }
}`)
type Problem = ResultOf<typeof VERIFY>['auditChain']['problems'][number]

export const auditVerify = () =>
  new Command('verify')
    .description('verify the hashes and signed checkpoints of all entries; exit code 1 when there is a problem')
    .option('--expect <seq:hash>', 'the end of the chain that an earlier verification printed: detects a replaced chain')
    .option('--installation', 'verify the entries of the installation; for installation administrators')
    .withOutput()
    .action(async ({ expect, installation, ...output }: Output & { expect?: string; installation?: boolean }) => {
      const [, expectedSeq, expectedHash] = /^(\d+):([0-9a-f]{64})$/.exec(expect ?? '') ?? []
      if (expect && !expectedHash) throw new CliError('--expect must be a position and a hash, such as 120:4f…', EXIT.usage)
      const fixed = {
        ...(expectedHash ? { expectedSeq: Number(expectedSeq), expectedHash } : {}),
        ...(installation && { ofInstallation: true }),
      }
      const problems: Problem[] = []
      let checkedCount = 0
      let after: number | null = null
      for (;;) {
        const { auditChain }: ResultOf<typeof VERIFY> = await request(VERIFY, { afterSeq: after, ...fixed })
        problems.push(...auditChain.problems)
        checkedCount += auditChain.checkedCount
        after = auditChain.lastSeq
        if (auditChain.hasMore) continue
        const { lastSeq, lastHash, unsealedCount, oldestUnsealedAt } = auditChain
        const end = lastSeq > 0 ? `${lastSeq}:${lastHash}` : null
        printObject({ isValid: problems.length === 0, checkedCount, end, unsealedCount, oldestUnsealedAt, problems }, output, [
          ['Result', problems.length === 0 ? 'valid' : 'NOT VALID'],
          ['Verified entries', checkedCount],
          ['End of chain', end],
          ['Not sealed yet', unsealedCount],
          ...problems.map((problem): [string, string] => ['Problem', problemText(problem)]),
        ])
        if (problems.length > 0) process.exitCode = EXIT.failed
        return
      }
    })

const TEXTS: Record<Problem['kind'], string> = {
  CHANGED: 'changed, or exchanged with another entry',
  MISSING: 'deleted',
  DUPLICATE: 'several entries at this position',
  CHECKPOINT: 'contradicts its checkpoint or --expect, or the checkpoint is not signed by this installation',
  UNSIGNED: 'without a checkpoint, which was deleted',
  PRUNED: 'not comparable, because retention deleted it; expect a later position',
}

const problemText = ({ kind, firstSeq, lastSeq, entryId }: Problem) =>
  `${firstSeq === lastSeq ? firstSeq : `${firstSeq} to ${lastSeq}`}: ${TEXTS[kind]}${entryId ? ` (entry ${entryId})` : ''}`
