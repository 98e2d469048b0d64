'use client'
import { usePathname, useRouter } from 'next/navigation'
import { type ReactNode, Suspense, useEffect } from 'react'
import { StepUp } from '@/access/sign-in/step-up-dialog.tsx'
import { useCurrentViewer, ViewerProvider } from '@/access/viewer.tsx'
import { t } from '@/messages/index.ts'
import { Shell } from '@/shell/shell.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Skeleton, SkeletonRows } from '@/ui/skeleton.tsx'

function Loading() {
  return (
    <div>
      <Skeleton className="mb-6 h-7 w-40" />
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={10} height={40} />
      </div>
    </div>
  )
}

/** Pages behind the sign-in. Signed-out users are redirected to it and back afterwards. */
export default function ConsoleLayout({ children }: { children: ReactNode }) {
  const { viewer, problem, retry } = useCurrentViewer()
  const router = useRouter()
  const path = usePathname()
  useEffect(() => {
    // A sign-in link works once, so the user must set a password first.
    if (viewer?.needsPassword) router.replace('/welcome')
    if (viewer !== null) return
    const target = `${path}${location.search}${location.hash}`
    router.replace(target === '/nodes' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(target)}`)
  }, [viewer, path, router])
  return (
    <Shell viewer={viewer ?? null}>
      {problem && !viewer ? (
        <Failure title={t('error.load')} message={problem.message} onRetry={retry} />
      ) : viewer && !viewer.needsPassword ? (
        <ViewerProvider viewer={viewer}>
          <Suspense fallback={<Loading />}>{children}</Suspense>
          <StepUp />
        </ViewerProvider>
      ) : (
        <Loading />
      )}
    </Shell>
  )
}
