import { ShieldCheck } from 'lucide-react'
import { useState } from 'react'
import { useClient } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { AuditChainQuery } from './documents.ts'

type Result = { isValid: boolean; title: string; lines: string[] }

/** Verifies the chain of the tenant or the installation on demand, part by part. */
export function useChainVerification(ofInstallation: boolean) {
  const client = useClient()
  const [isBusy, setBusy] = useState(false)
  const [result, setResult] = useState<(Result & { ofInstallation: boolean }) | null>(null)

  async function read(): Promise<Result> {
    let afterSeq: number | null = null
    let count = 0
    const problems: string[] = []
    for (;;) {
      const answer: Awaited<ReturnType<typeof ask>> = await ask(afterSeq)
      if (!answer.data)
        return { isValid: false, title: t('audit.verifyFailed'), lines: answer.error ? [toProblem(answer.error).message] : [] }
      const chain = answer.data.auditChain
      count += chain.checkedCount
      afterSeq = chain.lastSeq
      for (const { kind, firstSeq, lastSeq } of chain.problems)
        problems.push(t(`auditProblem.${kind}`, { first: formatNumber(firstSeq), last: formatNumber(lastSeq) }))
      if (chain.hasMore) continue
      const tail =
        chain.unsealedCount === 0 || chain.oldestUnsealedAt === null
          ? t('audit.allSealed')
          : t('audit.unsealedTail', { count: chain.unsealedCount, since: formatDateTime(chain.oldestUnsealedAt) })
      if (problems.length > 0) return { isValid: false, title: t('audit.invalid', { count }), lines: [...problems, tail] }
      const end = count > 0 ? [t('audit.end', { seq: chain.lastSeq, hash: chain.lastHash })] : []
      return { isValid: true, title: t('audit.valid', { count }), lines: [tail, ...end] }
    }
  }
  const ask = (afterSeq: number | null) =>
    client.query(AuditChainQuery, { afterSeq, ofInstallation }, { requestPolicy: 'network-only' }).toPromise()

  async function verify() {
    setBusy(true)
    setResult({ ...(await read()), ofInstallation })
    setBusy(false)
  }
  return { isBusy, result: result?.ofInstallation === ofInstallation ? result : null, verify }
}

type Verification = ReturnType<typeof useChainVerification>

export const VerifyButton = ({ isBusy, verify }: Verification) => (
  <Button icon={<ShieldCheck aria-hidden />} busy={isBusy} onClick={() => void verify()}>
    {t('audit.verify')}
  </Button>
)

export function VerificationResult({ result }: Verification) {
  if (!result) return null
  return (
    <div role="status" className="pb-3">
      <Notice tone={result.isValid ? 'info' : 'bad'} title={result.title}>
        {result.lines.map((line) => (
          <p key={line} className="[overflow-wrap:anywhere]">
            {line}
          </p>
        ))}
      </Notice>
    </div>
  )
}
