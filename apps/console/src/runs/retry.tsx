'use client'
import { RefreshCcwDot } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useRef } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { toast } from '@/ui/toast.tsx'
import { RetryRun, type RunHead } from './documents.ts'
import { newIdempotencyKey } from './idempotency-key.ts'
import { runHref } from './run-line.tsx'

/** The parts of a run that can be retried. */
const PARTS = [
  { hosts: 'FAILED', results: ['FAILED', 'INTERRUPTED'], label: 'run.retryFailed' },
  { hosts: 'UNREACHABLE', results: ['UNREACHABLE'], label: 'run.retryUnreachable' },
  { hosts: 'NOT_RUN', results: ['NOT_RUN'], label: 'run.retryNotRun' },
  { hosts: 'OFFLINE', results: ['OFFLINE'], label: 'run.retryOffline' },
] as const
type Part = { hosts: (typeof PARTS)[number]['hosts']; count: number }

const countOf = (parts: Part[]) => parts.reduce((sum, { count }) => sum + count, 0)

/** Retries a run on hosts that failed or were not run; nothing when all succeeded. */
export function Retry({ run }: { run: RunHead }) {
  const router = useRouter()
  const mutation = useMutation(RetryRun)
  const attempt = useRef(newIdempotencyKey())
  const parts = PARTS.map(({ hosts, results, label }) => {
    const among = run.hostSummary.filter(({ result }) => results.some((each) => each === result))
    return { hosts, label, count: among.reduce((sum, { count }) => sum + count, 0) }
  }).filter(({ count }) => count > 0)
  if (parts.length === 0) return null
  async function retry(chosen: Part[]) {
    const hosts = chosen.map((part) => part.hosts)
    const outcome = await mutation.run({ input: { id: run.id, hosts, idempotencyKey: `${attempt.current}-${hosts.join()}` } })
    if (outcome.ok) router.push(runHref(outcome.value.run.id))
    else {
      attempt.current = newIdempotencyKey()
      toast('bad', outcome.problem.message)
    }
  }
  const icon = <RefreshCcwDot aria-hidden />
  const all = t('run.retry', { count: countOf(parts) })
  if (run.retryBlockedReason || mutation.busy || parts.length === 1)
    return (
      <Button icon={icon} busy={mutation.busy} blockedReason={run.retryBlockedReason} onClick={() => void retry(parts)}>
        {all}
      </Button>
    )
  const started = parts.filter(({ hosts }) => hosts === 'FAILED' || hosts === 'UNREACHABLE')
  return (
    <Menu label={t('run.retryMenu')} icon={icon} align="end">
      <MenuItem onClick={() => void retry(parts)}>{all}</MenuItem>
      {parts.length > started.length && started.length > 1 && (
        <MenuItem onClick={() => void retry(started)}>{t('run.retryBoth', { count: countOf(started) })}</MenuItem>
      )}
      {parts.map((part) => (
        <MenuItem key={part.hosts} onClick={() => void retry([part])}>
          {t(part.label, { count: part.count })}
        </MenuItem>
      ))}
    </Menu>
  )
}
