'use client'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { redirectToProvider } from './oidc-sign-in.ts'
import { StartOidcSignIn } from './sign-in-method-documents.ts'
import { useProviderName } from './use-provider-name.ts'

/** Signs in through the OpenID Connect provider, if the installation has one. */
export function OidcButton({ next }: { next: string }) {
  const name = useProviderName('OIDC')
  const start = useMutation(StartOidcSignIn)
  async function leave() {
    const outcome = await start.run({ input: {} })
    if (outcome.ok) redirectToProvider(outcome.value.url, next)
  }
  if (!name) return null
  return (
    <div className="mt-5 flex flex-col gap-4 border-t border-line pt-5">
      {start.problem && <Notice tone="bad">{start.problem.message}</Notice>}
      <Button busy={start.busy} onClick={() => void leave()}>
        {t('signIn.with', { name })}
      </Button>
    </div>
  )
}
