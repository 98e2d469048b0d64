'use client'
import { Activity, BellRing, KeyRound, Laptop, LogOut, Moon, Play, Server, Settings, Sun, UserRound } from 'lucide-react'
import Link from 'next/link'
import { usePathname, useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { useClient } from 'urql'
import { useFreshClient } from '@/app/providers.tsx'
import { liveState } from '@/graphql/socket.ts'
import { type MessageKey, t } from '@/messages/index.ts'
import { SignOut, type Viewer } from '@/session/documents.ts'
import { Badge } from '@/ui/badge.tsx'
import { cx } from '@/ui/cx.ts'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { HelpDialog } from './help.tsx'
import { useShortcuts } from './keys.ts'
import { Mark } from './mark.tsx'
import { applyTheme, readTheme, type Theme, writeTheme } from './theme.ts'

const places = [
  { href: '/fleet', label: 'nav.fleet', icon: Activity },
  { href: '/nodes', label: 'nav.nodes', icon: Server },
  { href: '/runs', label: 'nav.runs', icon: Play },
  { href: '/alerts', label: 'nav.alerts', icon: BellRing },
  { href: '/credentials', label: 'nav.credentials', icon: KeyRound },
  { href: '/settings/tokens', at: '/settings', label: 'nav.settings', icon: Settings },
] as const

const themes: { key: Theme; label: MessageKey; icon: typeof Sun }[] = [
  { key: 'system', label: 'theme.system', icon: Laptop },
  { key: 'light', label: 'theme.light', icon: Sun },
  { key: 'dark', label: 'theme.dark', icon: Moon },
]

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>('system')
  useEffect(() => {
    setTheme(readTheme())
    const media = matchMedia('(prefers-color-scheme: dark)')
    media.addEventListener('change', applyTheme)
    return () => media.removeEventListener('change', applyTheme)
  }, [])
  return (
    <fieldset className="flex gap-0.5 rounded-md bg-sunken p-0.5" aria-label={t('theme.label')}>
      {themes.map(({ key, label, icon: Icon }) => (
        <button
          key={key}
          type="button"
          aria-pressed={theme === key}
          aria-label={t(label)}
          title={t(label)}
          onClick={() => {
            setTheme(key)
            writeTheme(key)
          }}
          className={cx(
            'grid h-6 flex-1 place-items-center rounded px-2',
            theme === key ? 'bg-panel text-text' : 'text-faint hover:text-text',
          )}
        >
          <Icon className="size-3.5" aria-hidden />
        </button>
      ))}
    </fieldset>
  )
}

/** Only when the live connection is gone: while all is well there is nothing to say. */
function Lost() {
  const state = useSyncExternalStore(liveState.subscribe, liveState.get, () => 'idle' as const)
  return (
    <div aria-live="polite">
      {state === 'lost' && (
        <div className="flex items-center gap-2 rounded-md bg-warn-soft px-2.5 py-1.5 text-xs text-warn">
          <span className="pulse size-2 rounded-full bg-warn-dot" aria-hidden />
          {t('live.lost')}
        </div>
      )}
    </div>
  )
}

function Account({ viewer, compact }: { viewer: Viewer; compact?: boolean }) {
  const router = useRouter()
  const client = useClient()
  const restart = useFreshClient()
  async function signOut() {
    await client.mutation(SignOut, {}).toPromise()
    restart()
    router.replace('/sign-in')
  }
  return (
    <Menu
      label={compact ? t('account.menu') : viewer.name}
      iconOnly={compact}
      icon={<UserRound aria-hidden />}
      quiet
      align={compact ? 'right' : 'left'}
    >
      <div className="w-56">
        <div className="border-b border-line px-2.5 pt-1.5 pb-2">
          <p className="truncate text-sm font-medium">{viewer.name}</p>
          {viewer.email && <p className="truncate text-xs text-muted">{viewer.email}</p>}
          <p className="mt-1.5 flex items-center gap-1.5 text-xs text-muted">
            <Badge>{t(`role.${viewer.role}`)}</Badge> {viewer.tenantName}
          </p>
        </div>
        <div className="py-1">
          <MenuItem icon={<UserRound aria-hidden />} onClick={() => router.push('/welcome')}>
            {t('account.edit')}
          </MenuItem>
          <MenuItem icon={<LogOut aria-hidden />} onClick={() => void signOut()}>
            {t('account.signOut')}
          </MenuItem>
        </div>
        <div className="border-t border-line p-1.5">
          <ThemeSwitch />
        </div>
      </div>
    </Menu>
  )
}

/** The frame around every page: places to go on the left (below on a phone), the account, the live connection's state. */
export function Shell({ viewer, children }: { viewer: Viewer | null; children: ReactNode }) {
  const path = usePathname()
  const [hasHelp, setHelp] = useState(false)
  useShortcuts(() => setHelp(true))
  return (
    <div className="min-h-dvh md:pl-52">
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        {t('nav.skip')}
      </a>
      <aside className="fixed inset-y-0 left-0 hidden w-52 flex-col border-r border-line bg-panel md:flex">
        <Link href="/nodes" className="flex h-14 items-center gap-2 px-4 text-base font-semibold tracking-tight">
          <Mark />
          {t('app.name')}
        </Link>
        <nav aria-label={t('nav.label')} className="flex flex-col gap-0.5 px-2">
          {places.map(({ href, label, icon: Icon, ...place }) => {
            const isHere = path.startsWith('at' in place ? place.at : href)
            return (
              <Link
                key={href}
                href={href}
                aria-current={isHere ? 'page' : undefined}
                className={cx(
                  'flex h-8 items-center gap-2.5 rounded-md px-2.5 text-sm',
                  isHere ? 'bg-hover font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
                )}
              >
                <Icon className="size-4" aria-hidden />
                {t(label)}
              </Link>
            )
          })}
        </nav>
        <div className="mt-auto flex flex-col gap-2 p-2">
          <Lost />
          <button
            type="button"
            onClick={() => setHelp(true)}
            className="rounded-md px-3 py-1 text-left text-xs text-faint hover:bg-hover hover:text-text"
          >
            {t('help.open')}
          </button>
          <div className="flex h-8 items-center">{viewer && <Account viewer={viewer} />}</div>
        </div>
      </aside>
      <header className="sticky top-0 z-20 flex h-12 items-center justify-between border-b border-line bg-panel px-4 md:hidden">
        <Link href="/nodes" className="flex items-center gap-2 text-base font-semibold tracking-tight">
          <Mark />
          {t('app.name')}
        </Link>
        <div className="flex items-center gap-2">
          <Lost />
          {viewer && <Account viewer={viewer} compact />}
        </div>
      </header>
      <main id="main" className="mx-auto w-full max-w-[1500px] px-4 pt-4 pb-24 md:px-7 md:pt-6 md:pb-10">
        {children}
      </main>
      <nav
        aria-label={t('nav.label')}
        className="fixed inset-x-0 bottom-0 z-20 grid grid-cols-6 border-t border-line bg-panel pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        {places.map(({ href, label, icon: Icon, ...place }) => {
          const isHere = path.startsWith('at' in place ? place.at : href)
          return (
            <Link
              key={href}
              href={href}
              aria-current={isHere ? 'page' : undefined}
              className={cx(
                'flex min-w-0 flex-col items-center gap-0.5 py-2 text-[10.5px]',
                isHere ? 'text-accent' : 'text-muted',
              )}
            >
              <Icon className="size-4.5" aria-hidden />
              {t(label)}
            </Link>
          )
        })}
      </nav>
      {hasHelp && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  )
}
