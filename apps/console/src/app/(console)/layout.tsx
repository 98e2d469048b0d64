'use client'
import { usePathname, useRouter } from 'next/navigation'
import { type ReactNode, Suspense, useEffect } from 'react'
import { t } from '@/messages/index.ts'
import { useWhoAmI, ViewerProvider } from '@/session/viewer.tsx'
import { Shell } from '@/shell/shell.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Skeleton, SkeletonRows } from '@/ui/skeleton.tsx'

function Waiting() {
  return (
    <div>
      <Skeleton className="mb-6 h-7 w-40" />
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={10} height={40} />
      </div>
    </div>
  )
}

/** Everything behind the sign-in. Who is not signed in goes there, and comes back to where they wanted to be. */
export default function ConsoleLayout({ children }: { children: ReactNode }) {
  const { viewer, problem, retry } = useWhoAmI()
  const router = useRouter()
  const path = usePathname()
  useEffect(() => {
    // A way in that works once is no way back in: first of all one chooses a password.
    if (viewer && !viewer.hasPassword) router.replace('/welcome')
    if (viewer !== null) return
    const target = `${path}${location.search}${location.hash}`
    router.replace(target === '/nodes' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(target)}`)
  }, [viewer, path, router])
  return (
    <Shell viewer={viewer ?? null}>
      {problem && !viewer ? (
        <Failure title={t('error.load')} message={problem.message} onRetry={retry} />
      ) : viewer?.hasPassword ? (
        <ViewerProvider viewer={viewer}>
          <Suspense fallback={<Waiting />}>{children}</Suspense>
        </ViewerProvider>
      ) : (
        <Waiting />
      )}
    </Shell>
  )
}
