'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { roleLabel } from '@/access/roles.ts'
import { CheckSignInMethod, type SignInMethod, SignInMethodSettingsQuery } from '@/access/sign-in/sign-in-method-documents.ts'
import { StepUpPanel } from '@/access/sign-in/step-up-panel.tsx'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const TONES = { OK: 'ok', WARNING: 'warn', ERROR: 'bad' } as const
type Finding = { severity: keyof typeof TONES; message: string; nextStep: string | null }

function TestButton({ kind, onTested }: { kind: SignInMethod['kind']; onTested: (findings: readonly Finding[]) => void }) {
  const test = useMutation(CheckSignInMethod)
  async function run() {
    const outcome = await test.run({ input: { kind } })
    onTested(outcome.ok ? outcome.value.findings : [{ severity: 'ERROR', message: outcome.problem.message, nextStep: null }])
  }
  return (
    <Button busy={test.busy} onClick={() => void run()}>
      {t('signInMethods.test')}
    </Button>
  )
}

function Method({ method: { kind, name, details } }: { method: SignInMethod }) {
  const [findings, setFindings] = useState<readonly Finding[]>([])
  const title = t(`signInMethods.kind.${kind}`)
  return (
    <Panel title={name ? `${name} (${title})` : title} actions={details && <TestButton kind={kind} onTested={setFindings} />}>
      {!details ? (
        <p className="text-sm text-muted">{t(`signInMethods.about.${kind}`)}</p>
      ) : (
        <div className="flex flex-col gap-4 text-sm">
          <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
            <dt className="text-muted">{t('signInMethods.address')}</dt>
            <dd className="font-mono text-xs break-all">{details.address}</dd>
            {details.redirectUri && (
              <>
                <dt className="text-muted">{t('signInMethods.redirectUri')}</dt>
                <dd className="font-mono text-xs break-all">{details.redirectUri}</dd>
              </>
            )}
            <dt className="text-muted">{t('signInMethods.groups')}</dt>
            <dd>
              {details.groupRoles.length === 0 ? (
                t('signInMethods.noGroups')
              ) : (
                <ul>
                  {details.groupRoles.map(({ group, tenant, role }) => (
                    <li key={`${group}\n${tenant}`} className="break-words">
                      {t('signInMethods.groupRole', {
                        group,
                        role: roleLabel(role),
                        tenant: tenant ?? t('signInMethods.mainTenant'),
                      })}
                    </li>
                  ))}
                </ul>
              )}
            </dd>
          </dl>
          {findings.map(({ severity, message, nextStep }) => (
            <div key={message} role="status" className="flex flex-wrap items-start gap-x-3 gap-y-1">
              <Badge tone={TONES[severity]}>{t(`system.severity.${severity}`)}</Badge>
              <div className="min-w-0 flex-1 basis-60 break-words">
                <p>{message}</p>
                {nextStep && <p className="mt-1 text-muted">{t('system.nextStep', { step: nextStep })}</p>}
              </div>
            </div>
          ))}
        </div>
      )}
    </Panel>
  )
}

/** The sign-in methods of the installation. */
export default function SignInMethodsPage() {
  useTitle(t('signInMethods.title'))
  const [{ data, error }, read] = useQuery({ query: SignInMethodSettingsQuery, requestPolicy: 'cache-and-network' })
  return (
    <>
      <PageHead title={t('signInMethods.title')} below={<p className="text-sm text-muted">{t('signInMethods.lead')}</p>} />
      {data ? (
        <div className="flex max-w-3xl flex-col gap-4">
          {data.signInMethods.map((method) => (
            <Method key={method.kind} method={method} />
          ))}
          <Notice tone="info">{t('signInMethods.configure')}</Notice>
          <StepUpPanel />
        </div>
      ) : error ? (
        <Failure
          title={t('signInMethods.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => read({ requestPolicy: 'network-only' })}
        />
      ) : (
        <Skeleton className="h-60 w-full" />
      )}
    </>
  )
}
