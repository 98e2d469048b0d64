'use client'
import { RefreshCcwDot } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useRef } from 'react'
import { useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { toast } from '@/ui/toast.tsx'
import { RetryRun, type RunHead } from './documents.ts'
import { newAttempt } from './new-attempt.ts'
import { runHref } from './run-line.tsx'

/** Try a run again where it did not end well; nothing when it did everywhere. */
export function Retry({ run }: { run: RunHead }) {
  const router = useRouter()
  const verb = useVerb(RetryRun)
  const attempt = useRef(newAttempt())
  const count = (...results: string[]) =>
    run.hostSummary.filter(({ result }) => results.includes(result)).reduce((sum, each) => sum + each.count, 0)
  const failed = count('FAILED', 'INTERRUPTED')
  const unreachable = count('UNREACHABLE')
  if (failed + unreachable === 0) return null
  async function retry(which: 'FAILED' | 'UNREACHABLE' | 'BOTH') {
    const outcome = await verb.run({ input: { id: run.id, which, idempotencyKey: `${attempt.current}-${which}` } })
    if (outcome.ok) router.push(runHref(outcome.value.id))
    else {
      attempt.current = newAttempt()
      toast('bad', outcome.problem.message)
    }
  }
  const icon = <RefreshCcwDot aria-hidden />
  if (run.retryBlockedReason || verb.busy || failed === 0 || unreachable === 0)
    return (
      <Button icon={icon} busy={verb.busy} blockedReason={run.retryBlockedReason} onClick={() => void retry('BOTH')}>
        {t('run.retry', { count: failed + unreachable })}
      </Button>
    )
  return (
    <Menu label={t('run.retryMenu')} icon={icon} align="right">
      <MenuItem onClick={() => void retry('BOTH')}>{t('run.retry', { count: failed + unreachable })}</MenuItem>
      <MenuItem onClick={() => void retry('FAILED')}>{t('run.retryFailed', { count: failed })}</MenuItem>
      <MenuItem onClick={() => void retry('UNREACHABLE')}>{t('run.retryUnreachable', { count: unreachable })}</MenuItem>
    </Menu>
  )
}
